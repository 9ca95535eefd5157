from base64 import b64decode
from typing import Any

from sovl_tools import EmbeddedResource, Image, Text

RED_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJg"
    "gg=="
)


def test_multiple_content_types() -> list[Any]:
    return [
        Text("Multiple content types test:"),
        Image(b64decode(RED_PIXEL), "image/png"),
        EmbeddedResource(
            "test://mixed-content-resource", '{"test":"data","value":123}', "application/json"
        ),
    ]
