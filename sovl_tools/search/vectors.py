"""Vectors of meaning, so that searches find tools by other words than their own.

Needs the extra ``semantic``: WordLlama's wheel (Miller, 2024) has vectors of 32,000 pieces of
words, and the tokenizer. Its own loader isn't used, because it looks for the files in another
folder, and then asks a hub. This module never opens the network.
"""

from __future__ import annotations

import logging
import os
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

from sovl_tools.search.words import COMMON, parts

SWITCH = "SOVL_TOOLS_SEMANTIC"
"""The environment variable that is ``off`` where the extra isn't to be used."""

Vector: TypeAlias = Any
"""An array of numpy, of length 1, or of zeros without words."""

_LOGGER = logging.getLogger("sovl_tools")
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_OFF = {"off", "0", "no", "false"}
_LONGEST = 4000  # characters of a text: later ones hardly turn an average


class Vectors:
    """Vectors of texts, by the pieces of their words."""

    def __init__(self, directory: str) -> None:
        self._numpy = import_module("numpy")
        weights = os.path.join(directory, _WEIGHTS)
        self._pieces = import_module("safetensors.numpy").load_file(weights)["embedding.weight"]
        tokenizers = import_module("tokenizers")
        self._tokenizer = tokenizers.Tokenizer.from_file(os.path.join(directory, _TOKENIZER))

    def of(self, text: str) -> Vector:
        """Return the vector of a text, without numbers and common words."""
        said = [part for part in parts(text[:_LONGEST]) if part.isalpha() and part not in COMMON]
        pieces = self._tokenizer.encode(" ".join(said), add_special_tokens=False).ids
        # single precision from here on: half of it is slow, and a sum of many would be coarse
        total = self._pieces[pieces].sum(axis=0, dtype="float32")
        return total / (self._numpy.linalg.norm(total) or 1)

    def table(self, vectors: list[Vector]) -> Vector:
        """Return vectors as one matrix, whose product with another vector are the cosines."""
        return self._numpy.stack(vectors)


@lru_cache(maxsize=1)
def vectors() -> Vectors | None:
    """Return the maker of vectors; None without the extra, or if it is switched off."""
    if os.environ.get(SWITCH, "").casefold() in _OFF:
        return None
    found = find_spec("wordllama")  # imports nothing
    if found is None or not found.submodule_search_locations:
        return None
    try:
        return Vectors(found.submodule_search_locations[0])
    except Exception:  # a release with other files, or without what it needs
        _LOGGER.warning("the extra 'semantic' can't be used", exc_info=True)
        return None
