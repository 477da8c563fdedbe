"""The commands `sluice detector-run …`, for runs of a period of data taking and their frames."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from sluice.cli.commands.data.end_time import set_end
from sluice.cli.job_orders.parameters import key_values
from sluice.cli.system import System, with_system
from sluice.cli.times import AtOption, EndOption, StartOption
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import print_json, print_next_page_hint, print_table
from sluice.contracts.data.runs import NewRun

app = typer.Typer(
    no_args_is_help=True, help="Runs of a period, with constant conditions and numbered frames."
)

NumberArgument = Annotated[int, typer.Argument(metavar="RUN", min=0, help="The number of the run.")]


@app.command("list")
@with_system
def list_runs(
    system: System,
    period: Annotated[str | None, typer.Option(help="Only runs of this period.")] = None,
) -> None:
    """List runs, with their conditions and the number of their frames."""
    runs = system.ask(lambda c: c.dms.list_runs(period=period))
    if system.as_json:
        print_json(runs)
        return
    print_table(
        ["run", "period", "conditions", "started", "ended", "frames"],
        [
            (
                each.number,
                each.period,
                ", ".join(f"{key}={value}" for key, value in each.conditions.items()),
                local_time(each.started_at),
                local_time(each.ended_at),
                each.frames,
            )
            for each in runs
        ],
        empty="no run is registered: sluice detector-run add NUMBER --period PERIOD",
    )


@app.command("add")
@with_system
def add_run(
    system: System,
    number: NumberArgument,
    *,
    period: Annotated[str, typer.Option(help="The period of the run.")],
    condition: Annotated[
        list[str] | None,
        typer.Option(
            "--condition",
            "-c",
            help="key=value: a condition. Templates match and bind conditions.KEY.",
        ),
    ] = None,
    started: StartOption = None,
    ended: EndOption = None,
) -> None:
    """Register a run of a period. Repeating it changes nothing."""
    conditions = key_values(condition or [], option="--condition")
    new = NewRun(
        number=number, period=period, conditions=conditions, started_at=started, ended_at=ended
    )
    run = system.ask(lambda c: c.dms.register_run(new))
    system.answer(run, f"run {run.number} of period {run.period} is registered")


@app.command("end")
@with_system
def end_run(system: System, number: NumberArgument, at: AtOption = None) -> None:
    """Set when a run ended."""
    set_end(
        system, f"run {number}", lambda c: c.dms.end_run(number, ended_at=at or datetime.now(UTC))
    )


@app.command("reopen")
@with_system
def reopen_run(system: System, number: NumberArgument) -> None:
    """Declare that a run has not ended."""
    set_end(system, f"run {number}", lambda c: c.dms.end_run(number, ended_at=None))


@app.command("frames")
@with_system
def list_frames(
    system: System,
    number: NumberArgument,
    after: Annotated[int, typer.Option(help="Only frames with numbers above this.")] = -1,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="The maximum number of frames.")
    ] = 100,
) -> None:
    """List the frames of a run, in the order of their numbers."""
    frames = system.ask(lambda c: c.dms.list_frames(number, after=after, limit=limit))
    if system.as_json:
        print_json(frames)
        return
    print_table(
        ["frame", "file", "metadata"],
        [
            (
                each.number,
                "" if each.file_id is None else each.file_id,
                ", ".join(f"{key}={value}" for key, value in each.meta.items()),
            )
            for each in frames
        ],
        empty=f"run {number} has no frames above number {after}",
    )
    print_next_page_hint(frames[-1].number if len(frames) == limit else None)
