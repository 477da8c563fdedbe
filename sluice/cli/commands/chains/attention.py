"""The commands `sluice attention …`."""

import getpass
from typing import Annotated
from uuid import UUID

import typer

from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, print_json, print_table
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
_MAX_NOTICES = 1000


@app.command("list")
@with_system
def list_notices(
    system: System,
    *,
    limit: Annotated[
        int, typer.Option(min=1, max=_MAX_NOTICES, help="The maximum number of notices.")
    ] = 100,
) -> None:
    """List what needs a person, errors first.

    A notice with an id stays until it is acknowledged, and any other until its cause is gone.
    """
    page = system.ask(lambda c: c.operator.list_notices(limit=limit))
    if system.as_json:
        print_json(page)
        return
    print_table(
        ["id", "since", "what"],
        [(notice.id or "", local_time(notice.since), notice.text) for notice in page.notices],
        empty="nothing needs attention",
    )
    if page.more:
        err.print(f"there are {page.more} more: --limit, or acknowledge these")


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
    """Acknowledge notices: they no longer need attention, and show your name and the time.

    After the failed jobs of a finished chain are acknowledged, the files that only they kept are
    deleted.
    """
    if bool(ids) is everything:
        raise typer.BadParameter("give the ids of notices, or --all")
    acknowledgement = _build_acknowledgement(by)
    done = system.ask(
        lambda c: (
            _acknowledge_all(c, acknowledgement)
            if everything
            else _acknowledge(c, ids or [], acknowledgement)
        ),
    )
    system.answer(
        {"acknowledged": done, "by": acknowledgement.by},
        f"{len(done)} acknowledged by {acknowledgement.by}",
    )


def _build_acknowledgement(by: str | None) -> Acknowledge:
    try:
        return Acknowledge(by=getpass.getuser() if by is None else by)
    except ValueError as error:
        raise typer.BadParameter(
            "a name has 1 to 100 characters, none of them a control character", param_hint="--by"
        ) from error


async def _acknowledge(
    connection: Connection, ids: list[str], acknowledgement: Acknowledge
) -> list[str]:
    """Acknowledge notices by their ids.

    Raises:
        Unprocessable: A text is not an id. Nothing was acknowledged.
        NotFound: The subject of a notice does not exist. The others were acknowledged.
        Conflict: A notice cannot be acknowledged. The others were acknowledged.
    """
    subjects = [Notice.subject_of(notice) for notice in ids]
    if invalid_ids := [
        notice for notice, subject in zip(ids, subjects, strict=True) if subject is None
    ]:
        findings = [
            Finding(
                message=(
                    f"{quoted(notice)} is not the id of a notice: `sluice attention list` shows"
                    " them"
                )
            )
            for notice in invalid_ids
        ]
        raise Unprocessable("nothing was acknowledged", findings=findings)
    for refusal in await _acknowledge_subjects(
        connection, list(filter(None, subjects)), acknowledgement
    ):
        if refusal is not None:
            raise refusal
    return ids


async def _acknowledge_subjects(
    connection: Connection, subjects: list[tuple[Subject, UUID]], acknowledgement: Acknowledge
) -> list[NotFound | Conflict | None]:
    operator = connection.operator
    return await acknowledge_each(
        subjects,
        acknowledgement,
        chain=operator.acknowledge_chain,
        pilot=operator.acknowledge_pilot,
    )


async def _acknowledge_all(connection: Connection, acknowledgement: Acknowledge) -> list[str]:
    """Acknowledge page after page, until there is no new notice.

    Notices that no longer need attention are skipped, and so are those whose acknowledgement
    deletes data.
    """
    tried: set[str] = set()
    done: list[str] = []
    while True:
        notices = (await connection.operator.list_notices(limit=_MAX_NOTICES)).notices
        subjects = {
            notice.id: Notice.subject_of(notice.id)
            for notice in notices
            if notice.id is not None and notice.id not in tried
        }
        if not subjects:
            return done
        tried |= subjects.keys()
        acknowledgeable = {
            notice: subject
            for notice, subject in subjects.items()
            if subject is not None and subject[0] is not Subject.FAILURES
        }
        refusals = await _acknowledge_subjects(
            connection, list(acknowledgeable.values()), acknowledgement
        )
        done += [
            notice
            for notice, refusal in zip(acknowledgeable, refusals, strict=True)
            if refusal is None
        ]
