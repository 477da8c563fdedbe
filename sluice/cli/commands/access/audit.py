"""The commands `sluice audit …`."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import out, print_json, print_next_page_hint, print_table
from sluice.clients.audit_filters import AuditFilters
from sluice.contracts.access.audit import AuditEntry, AuditPage

app = typer.Typer(no_args_is_help=True, help="The audit log: who changed what and when.")

#: The number of entries in one request of an export.
_PAGE = 500

WhoOption = Annotated[str | None, typer.Option(help="Only events of this person.")]
WhatOption = Annotated[
    str | None,
    typer.Option(help="Only events with this in the action: an address, a method, 'signs in'."),
]
ObjectOption = Annotated[
    str | None,
    typer.Option(
        "--object",
        help="Only events about this name or uid, of a data set or a person, for example.",
    ),
]
SinceOption = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Only events since this time, in UTC."
    ),
]
DaysOption = Annotated[
    int | None, typer.Option(min=1, help="Only events of this number of days, up to now.")
]


@app.command("list")
@with_system
def list_entries(  # noqa: PLR0913 - a command's options, each by its name
    system: System,
    *,
    who: WhoOption = None,
    what: WhatOption = None,
    object: ObjectOption = None,
    since: SinceOption = None,
    days: DaysOption = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1000, help="The maximum number of audit events.")
    ] = 50,
    after: Annotated[
        str | None, typer.Option(help="Continue where the previous list ended, as it says.")
    ] = None,
) -> None:
    """List audit events, the newest first, with their outcomes."""
    page = system.ask(
        lambda c: c.operator.list_audit_entries(
            who=who, what=what, object=object, since=_since(since, days), after=after, limit=limit
        )
    )
    if system.as_json:
        print_json(page)
        return
    print_table(
        ["when", "who", "from", "outcome", "what"],
        [_row(entry) for entry in page.entries],
        empty="nothing",
    )
    print_next_page_hint(page.after)


@app.command("export")
@with_system
def export(
    system: System,
    *,
    who: WhoOption = None,
    what: WhatOption = None,
    object: ObjectOption = None,
    since: SinceOption = None,
    days: DaysOption = None,
) -> None:
    """Print all audit events that pass the filters as JSON lines, to keep them elsewhere."""

    async def write(connection: Connection) -> None:
        filters = AuditFilters(who=who, what=what, object=object, since=_since(since, days))
        async for page in _pages(connection, filters):
            lines = "".join(f"{entry.model_dump_json()}\n" for entry in page.entries)
            await asyncio.to_thread(typer.echo, lines, nl=False)

    system.ask(write)


async def _pages(connection: Connection, filters: AuditFilters) -> AsyncIterator[AuditPage]:
    after: str | None = None
    while True:
        page = await connection.operator.list_audit_entries(**filters, after=after, limit=_PAGE)
        yield page
        if page.after is None:
            return
        after = page.after


@app.command("verify")
@with_system
def verify(system: System) -> None:
    """Check that the audit log is unchanged: every row is chained to the one before.

    The exit status is 1 if it was changed.

    Anyone who can write to a database can rewrite all of it. Compare the heads with those in the
    logs of the services (`audit.chained`).
    """
    verdicts = system.ask(lambda c: c.operator.get_audit_verdicts())
    if system.as_json:
        print_json(verdicts)
    else:
        for service in verdicts.services:
            state = service.wrong or "unchanged since they were written"
            out.print(f"{service.service}: {service.rows} rows, {state}; head {service.head[:16]}")
    if any(service.wrong for service in verdicts.services):
        raise typer.Exit(1)


def _since(since: datetime | None, days: int | None) -> datetime | None:
    if days is not None:
        return datetime.now(UTC) - timedelta(days=days)
    return None if since is None else since.replace(tzinfo=UTC)


def _row(entry: AuditEntry) -> tuple[object, ...]:
    outcome = "not answered" if entry.outcome is None else entry.outcome
    news = ", ".join(entry.news())
    description = f"{entry.action} ({news})" if news else entry.action
    return (local_time(entry.at), entry.who, entry.remote, outcome, description)
