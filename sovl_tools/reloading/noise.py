"""Names that say nothing about a tool: caches, and what editors and savers leave for a moment."""

from __future__ import annotations

import re

_ENDINGS = r"py[co]|bak|orig|rej|sw[nopx]|kate-swp|tmp|vsctmp|part|crdownload"
"""Bytecode, backups, swap files, half-written files."""

_SERIAL = r"(?:\d+|(?=\w*\d)\w{6,})"
_NUMBERED = rf"\.tmp[.\-_]?{_SERIAL}(?:[.\-]{_SERIAL})*"
"""``.tmp.1234``, ``.tmp-1234-17323``, ``.tmp.k3x9aq``; a word after ``.tmp`` is a real ending."""

_SED = r"sed(?![A-Za-z]?[a-z]*\d*$)(?![A-Z]*\d*$)[A-Za-z0-9]{6}"
"""What ``sed -i`` writes to; a word, and a word with a number after it, is somebody's file."""

_NOISE = re.compile(
    r"\..*|__pycache__|node_modules|4913|~\$.*|#.*#|.*~|.*___jb_(?:tmp|old)___|"
    rf".*\.(?i:{_ENDINGS})|.*{_NUMBERED}|{_SED}",
    re.DOTALL,
).fullmatch


def is_noise(name: str) -> bool:
    """Tell whether a file or folder of that bare name says nothing about a tool.

    A name that is noise by mistake hides an edit; one that is not costs a look at a folder. So a
    name that somebody may have chosen is none. (``4913`` is how vim tries whether it may write.)
    """
    return _NOISE(name) is not None
