from sovl_tools import EmbeddedResource


def test_embedded_resource() -> EmbeddedResource:
    content = "This is an embedded resource content."
    return EmbeddedResource("test://embedded-resource", content, "text/plain")
