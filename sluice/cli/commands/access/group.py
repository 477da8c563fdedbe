"""The commands `sluice group …`."""

from typing import Annotated

import typer

from sluice.cli.commands.access.quotas import (
    Chains,
    Data,
    Files,
    Waiting,
    format_usage,
    parse_quotas,
    quotas_text,
)
from sluice.cli.errors import plain_errors
from sluice.cli.system import System, with_system
from sluice.clientkit.output import print_json, print_table
from sluice.contracts.access.groups import Group, SetGroup

app = typer.Typer(
    no_args_is_help=True, help="Groups: their members, their fair shares and their quotas."
)


@app.command("list")
@with_system
def list_groups(system: System) -> None:
    """List the groups that you are in, with their usage and their quotas."""
    groups = system.ask(lambda c: c.operator.list_groups()).groups
    if system.as_json:
        print_json(groups)
        return
    print_table(
        ["group", "members", "weight", "running", "waiting", "chains", "data", "files"],
        [_row(group) for group in groups],
        empty="no group",
    )


@app.command("set")
@with_system
def set_group(
    system: System,
    name: Annotated[str, typer.Argument(metavar="GROUP", help="The name of the group.")],
    *,
    weight: Annotated[
        float | None,
        typer.Option(
            help="The weight of the group's share, if several groups have work for the same nodes."
        ),
    ] = None,
    chains: Chains = None,
    data: Data = None,
    files: Files = None,
    waiting: Waiting = None,
) -> None:
    """Set the fair share of a group, and its quotas. Values that are not given stay."""
    quotas = parse_quotas(chains=chains, data=data, files=files, waiting=waiting)
    new = plain_errors(lambda: SetGroup.model_validate({"weight": weight, **quotas}))
    group = system.ask(lambda c: c.operator.set_group(name, new))
    empty = "" if group.members else "; it has no members (`sluice user groups`)"
    system.answer(group, f"{group.name}: weight {group.weight:g}; has {quotas_text(group)}{empty}")


def _row(group: Group) -> tuple[object, ...]:
    return (
        group.name,
        ", ".join(group.members),
        f"{group.weight:g}",
        group.running,
        format_usage(group.waiting),
        format_usage(group.chains),
        format_usage(group.bytes, size=True),
        format_usage(group.files),
    )
