"""Points in time on the command line: ISO 8601, in local time where no zone is given."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from sluice.visible_text import quoted


def parse_moment(text: str) -> datetime:
    """Return the point in time that ``text`` names, as a Typer parser.

    Raises:
        typer.BadParameter: ``text`` is neither ``now`` nor a date or time in ISO 8601.
    """
    if text == "now":
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{quoted(text)} is no time: give 'now', a date (2026-05-04), or a time"
            " (2026-05-04T10:00:00, local, or 2026-05-04T08:00:00Z)"
        ) from error
    return moment if moment.tzinfo else moment.astimezone()


def local_time(moment: datetime | None) -> str:
    """Return ``2026-05-04 10:11:12 CEST``; nothing for None."""
    return "" if moment is None else f"{moment.astimezone():%F %T %Z}"


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
    typer.Option("--at", metavar="TIME", parser=parse_moment, help="When; default: now."),
]
