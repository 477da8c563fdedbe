"""Output of the commands: tables for people, JSON for programs (``--json``)."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel
from rich.table import Table
from rich.text import Text

from sluice.clientkit.terminal import console
from sluice.contracts.common.numbers import size_text
from sluice.contracts.common.problems import ServiceError
from sluice.text.visible_text import shown_path

#: The number of characters of a uid.
_UID_LENGTH = 36
#: The width of lines: that of the terminal, or enough for any line elsewhere.
_WIDTH = None if sys.stdout.isatty() else 500

# Results go to standard output, and messages to the user go to standard error. Printed names and
# texts may contain brackets, which are not markup.
out = console(width=_WIDTH)
err = console(stderr=True)


def print_json(value: BaseModel | Sequence[BaseModel] | dict[str, Any]) -> None:
    """Print pydantic models or a dictionary as one JSON document."""
    if isinstance(value, BaseModel):
        data: Any = value.model_dump(mode="json")
    elif isinstance(value, dict):
        data = value
    else:
        data = [item.model_dump(mode="json") for item in value]
    print(json.dumps(data, indent=2, ensure_ascii=False))


def print_answer(value: BaseModel | dict[str, Any], sentence: str, *, as_json: bool) -> None:
    """Print the result of a command: a sentence for people, or a value for programs."""
    if as_json:
        print_json(value)
    else:
        out.print(sentence)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str) -> None:
    """Print a table. Columns of numbers are right-aligned.

    Args:
        headings: The headings of the columns.
        rows: The cells by row.
        empty: The sentence to print if there are no rows.
    """
    if not rows:
        out.print(empty)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, heading in enumerate(headings):
        cells = [row[column] for row in rows]
        numeric = all(isinstance(cell, int | float) for cell in cells)
        # A uid that is broken in two cannot be copied into the next command.
        table.add_column(
            heading,
            justify="right" if numeric else "left",
            overflow="fold",
            min_width=_UID_LENGTH if any(isinstance(cell, UUID) for cell in cells) else None,
        )
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    if out.is_terminal:
        out.print(table)
        return
    with out.capture() as text:
        out.print(table)
    # The last column is padded.
    print("\n".join(line.rstrip() for line in text.get().removesuffix("\n").split("\n")))


def print_files(paths: Sequence[Path]) -> int:
    """Print the path, as one line, and the size of each file, and return the total size."""
    sizes = [path.stat().st_size for path in paths]
    for path, size in zip(paths, sizes, strict=True):
        out.print(f"{shown_path(path)}  {size_text(size)}")
    return sum(sizes)


def print_next_page_hint(after: object | None) -> None:
    """Say how to continue a list if it has another page.

    The hint goes to standard error, so that only the list itself is piped.

    Args:
        after: The start of the next page. None on the last page.
    """
    if after is not None:
        err.print(f"there are more: --after {after}")


def print_problem(error: ServiceError) -> None:
    """Print the message of an error, and each finding that adds to it."""
    sentence = error.detail
    if {"why", "forced"} <= error.fields.keys():  # a ``ForceRequired``
        sentence = f"{error.fields['why']}; --force {error.fields['forced']}"
    err.print(Text.assemble(("error:", "bold red"), f" {sentence}"))
    for finding in error.findings:
        if finding.file or finding.message not in sentence:
            plain = finding.severity == "error" and not finding.file
            err.print(f"  {finding.message if plain else finding}")
