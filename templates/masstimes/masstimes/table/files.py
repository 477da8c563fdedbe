"""The table as Parquet and as CSV. Equal rows give equal bytes."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from sluice.packs.programs import BadData, read_input, reason_in

#: The columns, with their types in Parquet.
SCHEMA = pa.schema(
    [
        ("parish", pa.string()),
        ("domain", pa.string()),
        ("day", pa.string()),
        ("time", pa.string()),
        ("days", pa.string()),
        ("weeks", pa.string()),
        ("season", pa.string()),
        ("months", pa.string()),
        ("url", pa.string()),
        ("sentence", pa.string()),
        ("source", pa.string()),
        ("probability", pa.float64()),
    ]
)


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the rows as Parquet."""
    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist([*rows], SCHEMA), file, compression="zstd")
    return file.getvalue()


def as_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, SCHEMA.names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_as_text, rows))
    return text.getvalue().encode()


def _as_text(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with a quote before texts that a spreadsheet would take for a formula.

    Sentences come from foreign pages (OWASP, CSV injection).
    """
    return {
        name: f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
        for name, value in row.items()
    }


def read_table(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table, which is Parquet or CSV by its first bytes.

    Raises:
        MissingInput: The file cannot be opened.
        BadData: The file is no table, or columns are missing.
    """
    content = read_input(path)
    rows: list[dict[str, Any]]
    try:
        if content.startswith(b"PAR1"):
            rows = parquet.read_table(io.BytesIO(content)).to_pylist()
        else:
            rows = list(csv.DictReader(io.StringIO(content.decode())))
    except (pa.ArrowException, OSError, csv.Error, UnicodeDecodeError) as error:
        raise BadData(path, f"this is not a table of mt-table ({reason_in(error)})") from error
    required = set(SCHEMA.names)
    if rows and not required <= set(rows[0]):
        missing = ", ".join(sorted(required - set(rows[0])))
        raise BadData(path, f"the table has no column {missing}")
    return rows
