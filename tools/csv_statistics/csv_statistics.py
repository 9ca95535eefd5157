"""Statistics of the columns of a CSV table."""

from .._shared.confinement import read_file
from .columns import summarize
from .table import read_table

_MAXIMUM_BYTES = 5_000_000


def csv_statistics(
    *, text: str | None, path: str | None, delimiter: str | None, has_header: bool = True
) -> dict[str, object]:
    """Return the statistics of a table; raise ValueError if it is missing or malformed."""
    content = _content(text, path)
    table = read_table(content, delimiter=delimiter, has_header=has_header)
    return {
        "rows": table.rows,
        "irregular_rows": table.irregular_rows,
        "delimiter": table.delimiter,
        "columns": [
            summarize(name, cells) for name, cells in zip(table.names, table.columns, strict=True)
        ],
    }


def _content(text: str | None, path: str | None) -> str:
    if path is not None and text is None:
        return _decoded(read_file(path, limit=_MAXIMUM_BYTES), path)
    if text is None or path is not None:
        raise ValueError("give the table either as 'text' or as the 'path' of a file")
    return text.removeprefix("\ufeff")


def _decoded(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeError:
        raise ValueError(f"{path!r} isn't text in UTF-8") from None
