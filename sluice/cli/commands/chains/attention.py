"""The commands `sluice attention …`."""

import getpass
from typing import Annotated
from uuid import UUID

import typer

from sluice.cli.connection import Connection
from sluice.cli.moments import local_time
from sluice.cli.output import err, print_json, print_table
from sluice.cli.system import System, with_system
from sluice.clients.attention import acknowledge_each
from sluice.contracts.chains.attention import Acknowledge, Notice, Subject
from sluice.contracts.common.problems import Conflict, Finding, NotFound, Unprocessable
from sluice.text.visible_text import quoted

app = typer.Typer(
    no_args_is_help=True, help="Notices that need a person, and their acknowledgement."
)

IdsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="The ids of the notices, as `attention list` shows them."),
]
#: The maximum number of notices in an answer.
_MOST = 1000


@app.command("list")
@with_system
def list_notices(
    system: System,
    *,
    limit: Annotated[
        int, typer.Option(min=1, max=_MOST, help="The maximum number of notices.")
    ] = 100,
) -> None:
    """List what needs a person, errors first.

    A notice with an id stays until it is acknowledged, and any other until its cause is gone.
    """
    found = system.ask(lambda c: c.operator.attention(limit=limit))
    if system.as_json:
        print_json(found)
        return
    print_table(
        ["id", "since", "what"],
        [(notice.id or "", local_time(notice.since), notice.text) for notice in found.notices],
        empty="nothing needs attention",
    )
    if found.more:
        err.print(f"there are {found.more} more: --limit, or acknowledge these")


@app.command("acknowledge")
@with_system
def acknowledge(
    system: System,
    ids: IdsArgument = None,
    *,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Acknowledge all notices, except those whose acknowledgement deletes data.",
        ),
    ] = False,
    by: Annotated[
        str | None, typer.Option(help="Who has seen the notices. The default is your user name.")
    ] = None,
) -> None:
    """Acknowledge notices: they need no attention any more, and show your name and the time.

    After the failed jobs of a finished chain are acknowledged, the files that only they kept are
    deleted.
    """
    if bool(ids) is everything:
        raise typer.BadParameter("name notices by their ids, or give --all")
    who = _who(by)
    done = system.ask(
        lambda c: _acknowledge_all(c, who) if everything else _acknowledge(c, ids or [], who),
    )
    system.answer(
        {"acknowledged": done, "by": who.by},
        f"{len(done)} acknowledged by {who.by}",
    )


def _who(by: str | None) -> Acknowledge:
    try:
        return Acknowledge(by=getpass.getuser() if by is None else by)
    except ValueError as error:
        raise typer.BadParameter(
            "a name has 1 to 100 characters, none of them a control character", param_hint="--by"
        ) from error


async def _acknowledge(connection: Connection, ids: list[str], who: Acknowledge) -> list[str]:
    """Acknowledge notices by their ids.

    Raises:
        Unprocessable: A text is not an id. Nothing was acknowledged.
        NotFound: The subject of a notice does not exist. The others were acknowledged.
        Conflict: A notice cannot be acknowledged. The others were acknowledged.
    """
    subjects = [Notice.subject_of(notice) for notice in ids]
    if wrong := [notice for notice, subject in zip(ids, subjects, strict=True) if subject is None]:
        findings = [
            Finding(
                message=f"{quoted(notice)} is no id of a notice: `sluice attention list` shows them"
            )
            for notice in wrong
        ]
        raise Unprocessable("nothing was acknowledged", findings=findings)
    for refusal in await _each(connection, list(filter(None, subjects)), who):
        if refusal is not None:
            raise refusal
    return ids


async def _each(
    connection: Connection, subjects: list[tuple[Subject, UUID]], who: Acknowledge
) -> list[NotFound | Conflict | None]:
    use = connection.operator
    return await acknowledge_each(
        subjects, who, chain=use.acknowledge_chain, pilot=use.acknowledge_pilot
    )


async def _acknowledge_all(connection: Connection, who: Acknowledge) -> list[str]:
    """Acknowledge page after page, until there is no new notice.

    Notices that need nobody any more are skipped, and so are those whose acknowledgement deletes
    data.
    """
    tried: set[str] = set()
    done: list[str] = []
    while True:
        found = (await connection.operator.attention(limit=_MOST)).notices
        subjects = {
            notice.id: Notice.subject_of(notice.id)
            for notice in found
            if notice.id is not None and notice.id not in tried
        }
        if not subjects:
            return done
        tried |= subjects.keys()
        known = {
            notice: subject
            for notice, subject in subjects.items()
            if subject is not None and subject[0] is not Subject.FAILURES
        }
        refusals = await _each(connection, list(known.values()), who)
        done += [notice for notice, refusal in zip(known, refusals, strict=True) if refusal is None]
