"""The commands `sluice period …`, for periods of data taking."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from sluice.cli.commands.data.end_time import set_end
from sluice.cli.system import System, with_system
from sluice.cli.times import AtOption, EndOption, StartOption
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import print_json, print_table
from sluice.contracts.data.runs import NewPeriod

app = typer.Typer(no_args_is_help=True, help="Periods of data taking: goals, starts and ends.")

NameArgument = Annotated[str, typer.Argument(metavar="PERIOD", help="The name of the period.")]


@app.command("list")
@with_system
def list_periods(system: System) -> None:
    """List all periods of data taking."""
    periods = system.ask(lambda c: c.dms.list_periods())
    if system.as_json:
        print_json(periods)
        return
    print_table(
        ["period", "goal", "started", "ended", "runs"],
        [
            (
                each.name,
                each.goal,
                local_time(each.started_at),
                local_time(each.ended_at),
                each.runs,
            )
            for each in periods
        ],
        empty="no period is registered: sluice period add NAME",
    )


@app.command("add")
@with_system
def add_period(
    system: System,
    name: NameArgument,
    *,
    goal: Annotated[str, typer.Option(help="The physics goal of the period.")] = "",
    started: StartOption = None,
    ended: EndOption = None,
) -> None:
    """Register a period of data taking. Repeating it changes nothing."""
    new = NewPeriod(name=name, goal=goal, started_at=started, ended_at=ended)
    period = system.ask(lambda c: c.dms.register_period(new))
    system.answer(period, f"period {period.name} is registered")


@app.command("end")
@with_system
def end_period(system: System, name: NameArgument, at: AtOption = None) -> None:
    """Set when a period ended."""
    set_end(
        system, f"period {name}", lambda c: c.dms.end_period(name, ended_at=at or datetime.now(UTC))
    )


@app.command("reopen")
@with_system
def reopen_period(system: System, name: NameArgument) -> None:
    """Declare that a period has not ended."""
    set_end(system, f"period {name}", lambda c: c.dms.end_period(name, ended_at=None))
