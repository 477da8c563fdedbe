"""`sluice stats`: how long work waits and takes."""

import time
from datetime import datetime
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from sluice.cli.object_lookup import resolve_chain_uid
from sluice.cli.system import System, with_system
from sluice.cli.times import parse_since
from sluice.clientkit.output import err, out, print_json, print_table
from sluice.contracts.common.numbers import format_count, seconds_text
from sluice.contracts.jobs.times import Spread, StepTimes, WorkTimes
from sluice.text.os_errors import os_error_sentence

ChainsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="CHAIN", help="Chains, as for `chain show`. The default is all chains."),
]
TemplateOption = Annotated[str | None, typer.Option(help="Only work of this template.")]
SinceOption = Annotated[
    str, typer.Option(help="Without a chain: what began since then, as 90m, 12h, 7d or a time.")
]
SvgOption = Annotated[
    Path | None, typer.Option("--svg", help="Write a picture of the times to this file.")
]
TimelineOption = Annotated[
    Path | None,
    typer.Option(
        "--timeline",
        help="With one chain: write a picture to this file that shows which pilot did what when.",
    ),
]
WatchOption = Annotated[bool, typer.Option("--watch", "-w", help="Repeat the output until Ctrl-C.")]


@with_system
def stats(
    system: System,
    chains: ChainsArgument = None,
    *,
    template: TemplateOption = None,
    since: SinceOption = "1d",
    svg: SvgOption = None,
    timeline: TimelineOption = None,
    watch: WatchOption = False,
) -> None:
    """Show how long jobs wait and run, by step and in total.

    It covers the named chains, live and afterwards, or everything that began recently.
    """
    if chains and template:
        raise typer.BadParameter("name chains, or a template")
    if timeline is not None and len(chains or []) != 1:
        raise typer.BadParameter("--timeline needs exactly one chain")
    uids = [resolve_chain_uid(system, chain) for chain in chains or []]
    begin = None if uids else parse_since(since)
    while True:
        _show(system, uids, template=template, since=begin)
        if svg is not None:
            _write(svg, system.ask(
                lambda c: c.operator.get_times_picture(uids, template=template, since=begin)
            ))  # fmt: skip
        if timeline is not None:
            _write(timeline, system.ask(lambda c: c.operator.get_timeline_picture(uids[0])))
        if not watch:
            return
        time.sleep(2)
        out.print()


def _show(
    system: System, chains: list[UUID], *, template: str | None, since: datetime | None
) -> None:
    times = system.ask(
        lambda c: c.operator.get_times(chain_uid=chains, template=template, since=since)
    )
    if system.as_json:
        print_json(times)
    else:
        _print_times(times)


def _print_times(times: WorkTimes) -> None:
    quantiles = ("mean", "median", "p90")
    columns = [f"{kind}: {name}" for kind in ("waiting", "working") for name in quantiles]
    print_table(
        ["step", "tasks", "finished", "open", *columns, "at most", "spread", "turnaround"],
        [
            (
                step.step,
                step.tasks,
                step.finished,
                step.open,
                *_quantiles(step.waiting),
                *_quantiles(step.working),
                *_further_figures(step),
            )
            for step in times.steps
        ],
        empty="no task began in this time",
    )
    if times.passage is not None:
        out.print(
            f"in all: waiting {seconds_text(times.waiting)}, working"
            f" {seconds_text(times.working)}; turnaround of an entry"
            f" {seconds_text(times.passage.mean)}, at most {seconds_text(times.passage.most)}"
        )
    if times.chains is not None:
        mean = seconds_text(times.chains.mean)
        out.print(
            f"the chain: {mean} from the first task to the last's end"
            if times.chains.count == 1
            else f"{times.chains.count} chains: on average {mean} from a chain's first task to its"
            " last's end"
        )
    if times.uncounted:
        tasks = format_count(times.uncounted, "task")
        err.print(f"the jobs of {tasks} are still to be counted: ask again soon")


def _quantiles(spread: Spread | None) -> tuple[str, ...]:
    if spread is None:
        return ("", "", "")
    return tuple(map(seconds_text, (spread.mean, spread.median, spread.p90)))


def _further_figures(step: StepTimes) -> tuple[str, ...]:
    if step.working is None or step.passage is None:
        return ("", "", "")
    return tuple(map(seconds_text, (step.working.most, step.working.deviation, step.passage.mean)))


def _write(file: Path, picture: bytes) -> None:
    try:
        file.write_bytes(picture)
    except OSError as error:
        err.print(f"error: {os_error_sentence(error)}")
        raise typer.Exit(1) from None
    err.print(f"picture in {file}")
