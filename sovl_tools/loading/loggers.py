"""Loggers of modules that are gone: the logging module would keep them for ever."""

from __future__ import annotations

import logging


def drop_loggers(package: str) -> None:
    """Forget the loggers of a package.

    Whoever holds one can go on using it; it is only not found by its name any more.
    """
    known = logging.root.manager.loggerDict
    above = known.get(package.rpartition(".")[0])
    for name in [name for name in list(known) if name.startswith(package)]:
        logger = known.pop(name, None)
        if isinstance(above, logging.PlaceHolder) and isinstance(logger, logging.Logger):
            above.loggerMap.pop(logger, None)
