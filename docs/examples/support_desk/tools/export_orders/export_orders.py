import struct
import zlib

from sovl_tools import Image, ToolContext

from .._shared.shop import connect

HEIGHT = 40


def export_orders(context: ToolContext, customer: str | None = None) -> Image:
    """Draw a bar chart of the totals of orders.

    Args:
        customer: Whose orders; everyone's without it.
    """
    query = "SELECT total FROM orders WHERE ? IS NULL OR customer = ? ORDER BY day"
    with connect() as database:
        totals = [row["total"] for row in database.execute(query, [customer, customer])]
    bars = []
    for done, total in enumerate(totals, 1):
        bars.append(round(HEIGHT * total / max(totals)))
        context.report_progress(done, len(totals), "drawing")
    return Image(_png(bars), "image/png")


def _png(bars: list[int]) -> bytes:
    """Return a picture with a bar of 8 pixels for each number."""
    rows = [
        b"\0" + b"".join((b"\x20" if row < bar else b"\xff") * 8 for bar in bars)
        for row in reversed(range(HEIGHT))
    ]
    head = struct.pack(">IIBBBBB", 8 * len(bars), HEIGHT, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
