"""The plugin of pytest: examples of manifests as tests, and fixtures. Off unless it is asked for.

pytest imports this module wherever sovl-tools is installed, so that it imports nothing itself.
"""

from __future__ import annotations

from importlib import import_module

import pytest

OPTION = "sovl_tools"
INCLUDE = "sovl_tools_include"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and the key of the ini file."""
    group = parser.getgroup("sovl-tools", "tools for language models")
    group.addoption(
        "--sovl-tools",
        action="append",
        metavar="DIR",
        dest=OPTION,
        help="run the examples of the tools in this directory; can be repeated",
    )
    group.addoption(
        "--sovl-tools-include",
        action="append",
        metavar="GROUPS",
        dest=INCLUDE,
        default=[],
        help="run tools as well that are omitted: destructive,network",
    )
    parser.addini(OPTION, "directories of tools whose examples are run", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Enter what collects examples, and the fixtures, if a directory is named."""
    if config.getoption(OPTION) or config.getini(OPTION):
        module = import_module("sovl_tools.pytest_plugin.examples")
        config.pluginmanager.register(module.Examples(config), "sovl_tools_examples")
        config.pluginmanager.register(module, "sovl_tools_fixtures")
