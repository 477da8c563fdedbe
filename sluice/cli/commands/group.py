"""`sluice group …`"""

from typing import Annotated

import typer

from sluice.cli.errors import plain_errors
from sluice.cli.output import human_bytes, print_json, print_table
from sluice.cli.system import System, with_system
from sluice.contracts.groups import UNBOUNDED, Group, Quota, SetGroup

app = typer.Typer(
    no_args_is_help=True, help="Groups: their members, their share of the nodes, their quotas."
)

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}


@app.command("list")
@with_system
def list_groups(system: System) -> None:
    """Groups that you are in: what they have, and what they may have."""
    found = system.ask(lambda c: c.operator.groups()).groups
    if system.as_json:
        print_json(found)
        return
    print_table(
        ["group", "members", "weight", "running", "waiting", "chains", "data", "files"],
        [_row(group) for group in found],
        empty="no group",
    )


@app.command("set")
@with_system
def set_group(
    system: System,
    name: Annotated[str, typer.Argument(metavar="GROUP")],
    *,
    weight: Annotated[
        float | None,
        typer.Option(help="Of its share, where several groups have work for the same nodes."),
    ] = None,
    chains: Annotated[
        str | None, typer.Option(metavar="N|none", help="At a time, at the most.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="SIZE|none", help="That it may have, such as 20GB.")
    ] = None,
    files: Annotated[
        str | None, typer.Option(metavar="N|none", help="That it may have, such as 2M.")
    ] = None,
) -> None:
    """Set the share of a group, and what it may have; what is not said stays."""
    said = (("chains", chains), ("bytes", data), ("files", files))
    quotas = {field: amount(text) for field, text in said if text is not None}
    new = plain_errors(lambda: SetGroup.model_validate({"weight": weight, **quotas}))
    group = system.ask(lambda c: c.operator.set_group(name, new))
    empty = "" if group.members else "; nobody is in it (`sluice user groups`)"
    system.answer(group, f"{group.name}: weight {group.weight:g}; has {_quotas(group)}{empty}")


def amount(text: str) -> int | str:
    """``20GB``, ``2M``, ``none``: powers of ten. Ends the command for what is none."""
    if text.strip().lower() == UNBOUNDED:
        return UNBOUNDED
    written = text.strip().lower().removesuffix("b")
    number, unit = (written[:-1], written[-1]) if written[-1:] in _UNITS else (written, "")
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(
            f"{text!r} is no amount: write it as 20GB, 2M, 1000 or {UNBOUNDED}"
        ) from error


def _row(group: Group) -> tuple[object, ...]:
    return (
        group.name,
        ", ".join(group.members),
        f"{group.weight:g}",
        group.running,
        group.waiting,
        _of(group.chains),
        _of(group.bytes, size=True),
        _of(group.files),
    )


def _quotas(group: Group) -> str:
    return f"{_of(group.chains)} chains, {_of(group.bytes, size=True)}, {_of(group.files)} files"


def _of(quota: Quota, *, size: bool = False) -> str:
    used, most = (
        ("" if number is None else human_bytes(number) if size else str(number))
        for number in (quota.used, quota.most)
    )
    return f"{used} of {most}" if most else used
