"""Layers of a map."""

from sovl_tools import tool


def names() -> list[str]:
    raise OSError("no map is open")


@tool(params={"layer": {"enum": names}})
def show(layer: str) -> str:
    """Show a layer."""
    return layer
