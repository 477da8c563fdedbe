"""`sluice attention …`"""

import getpass
from typing import Annotated

import typer

from sluice.cli.connect import DEFAULT_HOME, Connection, HomeOption, JsonOption, UrlOption, ask
from sluice.cli.output import answer, err, print_json, print_table
from sluice.contracts.attention import Acknowledge, Notice, Subject
from sluice.contracts.problems import Finding, Unprocessable

app = typer.Typer(no_args_is_help=True, help="What needs a person, and who has seen it.")

IdsArgument = Annotated[list[str] | None, typer.Argument(metavar="[ID]…", help="As `attention list` names them.")]
#: Notices in one answer.
_MOST = 1000


@app.command("list")
def list_notices(
    *,
    limit: Annotated[int, typer.Option(min=1, max=_MOST)] = 100,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """What needs a person, errors first. What has an id stays until it is acknowledged, the rest until its cause has gone."""
    found = ask(url, home, lambda c: c.operator.attention(limit=limit))
    if as_json:
        print_json(found)
        return
    print_table(
        ["id", "since", "what"],
        [(one.id or "", f"{one.since:%F %T}" if one.since else "", one.text) for one in found.notices],
        empty="nothing needs attention",
    )
    if found.more:
        err.print(f"there are {found.more} more: --limit, or acknowledge these")


@app.command("acknowledge")
def acknowledge(
    ids: IdsArgument = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All that can be acknowledged.")] = False,
    by: Annotated[str | None, typer.Option(help="Who has seen it. Default: your user name.")] = None,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """Say that you have seen something: it needs attention no more, and shows your name and the time."""
    if bool(ids) is everything:
        raise typer.BadParameter("name notices by their ids, or give --all")
    who = _who(by)
    done = ask(url, home, lambda c: _acknowledge_all(c, who) if everything else _acknowledge(c, ids or [], who))
    answer({"acknowledged": done, "by": who.by}, f"{len(done)} acknowledged by {who.by}", as_json=as_json)


def _who(by: str | None) -> Acknowledge:
    try:
        return Acknowledge(by=getpass.getuser() if by is None else by)
    except ValueError as error:
        raise typer.BadParameter("a name has 1 to 100 characters, none of them a control character", param_hint="--by") from error


async def _acknowledge(connection: Connection, ids: list[str], who: Acknowledge) -> list[str]:
    """Raises ``Unprocessable`` for what is no id before anything is acknowledged; ``NotFound``, ``Conflict``."""
    subjects = [Notice.subject_of(one) for one in ids]
    if wrong := [one for one, subject in zip(ids, subjects, strict=True) if subject is None]:
        findings = [Finding(message=f"{one!r} is no id of a notice: `sluice attention list` shows them") for one in wrong]
        raise Unprocessable("nothing was acknowledged", findings=findings)
    for kind, uid in filter(None, subjects):
        match kind:
            case Subject.CHAIN:
                await connection.operator.acknowledge_chain(uid, who)
            case Subject.PILOT:
                await connection.operator.acknowledge_pilot(uid, who)
    return ids


async def _acknowledge_all(connection: Connection, who: Acknowledge) -> list[str]:
    """Page after page, until no new one comes."""
    done: dict[str, None] = {}
    while True:
        found = (await connection.operator.attention(limit=_MOST)).notices
        ids = [one.id for one in found if one.id is not None and one.id not in done]
        if not ids:
            return list(done)
        done |= dict.fromkeys(await _acknowledge(connection, ids, who))
