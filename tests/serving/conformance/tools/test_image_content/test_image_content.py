from base64 import b64decode

from sovl_tools import Image

RED_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJg"
    "gg=="
)


def test_image_content() -> Image:
    return Image(b64decode(RED_PIXEL), "image/png")
