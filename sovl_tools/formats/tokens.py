"""How many tokens a definition takes, roughly and offline."""

from __future__ import annotations

import json

from sovl_tools.model.document import JSON

# the first code points beyond ASCII, and of the blocks from CJK radicals to emoji
_ALPHABETS = 0x80
_IDEOGRAPHS = 0x2E80


def estimate(definition: JSON) -> int:
    """Return about how many tokens a definition takes in a request: JSON, or text as it is.

    It is an estimate and no bill. Four characters of ASCII make a token, two of other alphabets,
    one ideograph or emoji. Providers rewrite definitions before a model reads them, each with a
    tokenizer of its own: by the two examples for which they publish numbers, this is a third too
    high for OpenAI's gpt-4o and half too high for Anthropic's older models, of whose text newer
    ones make about 30 % more tokens. What a request with tools costs beside them is not in it;
    at Anthropic that is a system prompt of some 300 to 700 tokens.

    Source: the Gemini API's rule of four characters a token; the OpenAI cookbook's
    ``How_to_count_tokens_with_tiktoken`` and Anthropic's pages on tool use for the comparison.
    """
    is_text = isinstance(definition, str)
    text = (
        definition if is_text else json.dumps(definition, ensure_ascii=False, separators=(",", ":"))
    )
    if text.isascii():  # the usual case, without a look at each letter
        quarters = len(text)
    else:
        codes = map(ord, text)
        quarters = sum(1 if code < _ALPHABETS else 2 if code < _IDEOGRAPHS else 4 for code in codes)
    return -(-quarters // 4)
