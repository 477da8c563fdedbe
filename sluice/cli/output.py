"""What the command prints: tables for people, JSON for programs (``--json``)."""

import json
import sys
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pydantic import BaseModel
from rich.table import Table
from rich.text import Text

from sluice.cli.terminal import console
from sluice.contracts.problems import ServiceError

#: Characters of a uid.
_LONGEST_UID = 36
#: Off a terminal lines are as long as they need to be.
_WIDTH = None if sys.stdout.isatty() else 500

# Results go to standard output, everything said to the person beside it to standard error. What is
# printed is names, messages and texts of others, so brackets in it are no markup.
out = console(width=_WIDTH)
err = console(stderr=True)


def print_json(value: BaseModel | Sequence[BaseModel] | dict[str, Any]) -> None:
    """Pydantic models as their contracts say, one JSON document."""
    if isinstance(value, BaseModel):
        data: Any = value.model_dump(mode="json")
    elif isinstance(value, dict):
        data = value
    else:
        data = [item.model_dump(mode="json") for item in value]
    print(json.dumps(data, indent=2, ensure_ascii=False))


def print_answer(value: BaseModel | dict[str, Any], sentence: str, *, as_json: bool) -> None:
    """What a command did: ``sentence`` for people, ``value`` for programs."""
    if as_json:
        print_json(value)
    else:
        out.print(sentence)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str) -> None:
    """``empty`` is said when there are no rows. Numbers are set to the right."""
    if not rows:
        out.print(empty)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, heading in enumerate(headings):
        cells = [row[column] for row in rows]
        numeric = all(isinstance(cell, int | float) for cell in cells)
        table.add_column(
            heading,
            justify="right" if numeric else "left",
            overflow="fold",
            # What is cut in two cannot be copied into the next command.
            min_width=_LONGEST_UID if any(isinstance(cell, UUID) for cell in cells) else None,
        )
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    out.print(table)


def tell_more(after: object | None) -> None:
    """A list that ends before all is shown says so, and how to go on. ``after``: where the next
    page begins; None on the last. On standard error, so that what is piped on is the list alone."""
    if after is not None:
        err.print(f"there are more: --after {after}")


def print_problem(error: ServiceError) -> None:
    """The sentence of an error, and every finding that says more than it."""
    sentence = error.detail
    if {"why", "forced"} <= error.fields.keys():  # a ``NeedsForce``
        sentence = f"{error.fields['why']}; --force {error.fields['forced']}"
    err.print(Text.assemble(("error:", "bold red"), f" {sentence}"))
    for finding in error.findings:
        if finding.file or finding.message not in sentence:
            err.print(f"  {finding}")


def human_bytes(size: float) -> str:
    """``950 B``, ``1.5 kB``, ``20.0 MB``: bytes in decimal units."""
    if size < 1000:
        return f"{size:.0f} B"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"
