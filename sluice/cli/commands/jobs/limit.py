"""The commands `sluice limit …`."""

from typing import Annotated

import typer

from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.object_lookup import require_existing_name
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import print_json, print_table
from sluice.contracts.common.numbers import in_full
from sluice.contracts.jobs.limits import LimitPeriod, ResourceLimit, SetLimit
from sluice.text.visible_text import quoted

app = typer.Typer(no_args_is_help=True, help="Limits on resources that are counted over all nodes.")

NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="The name of the resource, as templates request it (sluice:resources)."
    ),
]


@app.command("list")
@with_system
def list_limits(system: System) -> None:
    """List limits on resources.

    For each limit, it shows how much jobs hold, or have spent of a quota, and how many jobs wait
    for some.
    """
    page = system.ask(lambda c: c.operator.list_limits())
    if system.as_json:
        print_json(page)
        return
    print_table(
        ["resource", "used", "limit", "full again", "waiting"],
        [_row(limit) for limit in page.limits],
        empty="no limit: resources are counted by the nodes that offer them",
    )


@app.command("set")
@with_system
def set_limit(
    system: System,
    name: NameArgument,
    amount: Annotated[
        str,
        typer.Argument(
            help="The amount at a time (100), or in each minute, hour or day in UTC (1000/day)."
        ),
    ],
) -> None:
    """Set how much of a resource there is over all nodes.

    What jobs hold beyond a lower limit is not taken away. Jobs get nothing more until enough has
    ended.
    """
    new = parse_limit(name, amount)
    page = system.ask(lambda c: c.operator.set_limit(new))
    new_limit = next(limit for limit in page.limits if limit.name == name)
    system.answer(
        page,
        f"{name}: {_format_amount(new_limit)}, of which {in_full(new_limit.used)} are used now",
    )


@app.command("remove")
@with_system
@with_confirmation
def remove(system: System, confirmation: Confirmation, name: NameArgument) -> None:
    """Remove a limit. Jobs that need the resource then wait for a node that offers it."""

    async def check_exists(connection: Connection) -> None:
        limits = (await connection.operator.list_limits()).limits
        require_existing_name("limit", name, (limit.name for limit in limits))

    system.ask(check_exists)
    confirmation.require(
        f"take the limit of {name} away: jobs that need it wait for a node that has it"
    )
    page = system.ask(lambda c: c.operator.remove_limit(name))
    system.answer(page, f"{name}: the limit was removed")


def parse_limit(name: str, text: str) -> SetLimit:
    """Return the limit that a text such as ``100`` or ``1000/day`` means.

    Raises:
        typer.BadParameter: The text is malformed.
    """
    amount_text, separator, period = text.partition("/")
    try:
        amount, span = float(amount_text), LimitPeriod(period) if separator else None
    except ValueError as error:
        periods = ", ".join(f"{amount_text or 100}/{period.value}" for period in LimitPeriod)
        raise typer.BadParameter(
            f"{quoted(text)} is not a limit: give a number, such as 100, or {periods}"
        ) from error
    return plain_errors(lambda: SetLimit(name=name, amount=amount, period=span))


def _row(limit: ResourceLimit) -> tuple[object, ...]:
    refill_time = local_time(limit.refills)
    return (limit.name, in_full(limit.used), _format_amount(limit), refill_time, limit.waiting)


def _format_amount(limit: ResourceLimit) -> str:
    span = "" if limit.period is None else f"/{limit.period.value}"
    return f"{in_full(limit.amount)}{span}"
