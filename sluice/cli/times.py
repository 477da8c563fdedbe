"""Points in time on the command line: ISO 8601, in local time unless a zone is given."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from sluice.text.visible_text import quoted

#: A span of time, such as ``90m``.
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def parse_moment(text: str) -> datetime:
    """Return the point in time that a user typed. Typer uses this function as a parser.

    Raises:
        typer.BadParameter: ``text`` is neither ``now`` nor a date or time in ISO 8601.
    """
    if text == "now":
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{quoted(text)} is not a valid time: give 'now', a date (2026-05-04), or a time"
            " (2026-05-04T10:00:00, local, or 2026-05-04T08:00:00Z)"
        ) from error
    return moment if moment.tzinfo else moment.astimezone()


def parse_since(text: str) -> datetime:
    """Return the time at which a period that a user typed for ``--since`` begins.

    Raises:
        typer.BadParameter: ``text`` is neither a span up to now, such as ``90m``, nor a time.
    """
    span = _SPAN.fullmatch(text)
    try:
        if span is not None:
            return datetime.now(UTC) - timedelta(seconds=float(span[1]) * _UNITS[span[2]])
        return parse_moment(text)
    except (typer.BadParameter, OverflowError) as error:
        raise typer.BadParameter(
            f"{quoted(text)} is neither a span (90m, 12h, 7d) nor a time (2026-05-01T12:00)",
            param_hint="--since",
        ) from error


StartOption = Annotated[
    datetime | None,
    typer.Option("--started", metavar="TIME", parser=parse_moment, help="When it started."),
]
EndOption = Annotated[
    datetime | None,
    typer.Option("--ended", metavar="TIME", parser=parse_moment, help="When it ended."),
]
AtOption = Annotated[
    datetime | None,
    typer.Option(
        "--at", metavar="TIME", parser=parse_moment, help="When it ended. The default is now."
    ),
]
