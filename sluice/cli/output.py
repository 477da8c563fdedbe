"""What the command prints: tables for people, JSON for programs (``--json``)."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from sluice.contracts.problems import ServiceError

#: Results go to standard output, everything said to the person beside it to standard error.
#: Off a terminal lines are as long as they need to be.
_WIDTH = None if sys.stdout.isatty() else 500
out = Console(highlight=False, soft_wrap=True, width=_WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: BaseModel | Sequence[BaseModel] | dict[str, Any]) -> None:
    """Pydantic models as their contracts say, one JSON document."""
    if isinstance(value, BaseModel):
        data: Any = value.model_dump(mode="json")
    elif isinstance(value, dict):
        data = value
    else:
        data = [item.model_dump(mode="json") for item in value]
    print(json.dumps(data, indent=2, ensure_ascii=False))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str) -> None:
    """``empty`` is said when there are no rows. Numbers are set to the right."""
    if not rows:
        out.print(empty)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, heading in enumerate(headings):
        numeric = all(isinstance(row[column], int | float) for row in rows)
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    out.print(table)


def print_problem(error: ServiceError) -> None:
    """The sentence of an error, and every finding with its place."""
    err.print(f"[bold red]error:[/] {error.detail}", markup=True)
    for finding in error.findings:
        err.print(f"  {finding}", markup=False)


def human_bytes(size: float) -> str:
    """Bytes with a decimal unit, three significant digits at the least."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")
