"""The shop's database."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

SAMPLE = [
    (1, "Ada", "shipped", 120.0, "2026-11-02"),
    (2, "Ben", "open", 35.5, "2026-11-03"),
    (3, "Ada", "open", 80.0, "2026-11-05"),
    (4, "Cleo", "refunded", 15.0, "2026-11-09"),
]


def connect() -> closing[sqlite3.Connection]:
    """Open the database; a new one gets sample orders."""
    path = Path(os.environ["SHOP_DATABASE"])
    is_new = not path.exists()
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    if is_new:
        database.execute("CREATE TABLE orders (id, customer, status, total, day, reason)")
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, NULL)", SAMPLE)
        database.commit()
    return closing(database)
