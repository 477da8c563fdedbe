"""`sluice simulate`: what would it take, with these nodes and that policy?"""

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

from sluice.cli.options import JsonOption
from sluice.cli.output import err, out, print_json, print_table
from sluice.contracts.simulation import PolicyName, SimulationResult
from sluice.contracts.times import Spread

#: The simulator, and what draws the time lines of production: found by name.
SIMULATOR, DRAWING = "wms.simulation.entry", "wfms.operator.domain.timeline_drawing"


def simulate(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="A YAML file.")],
    *,
    policy: Annotated[
        PolicyName | None, typer.Option(help="Instead of the scenario's: what is loaded where.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Instead of the scenario's: other pages and times.")
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", help="Write a picture into this file of which place did what when."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Runs a scenario in simulated time: how long pages wait and are worked on, by kind of work
    and in all. What fits where, and what is loaded where, is decided as in production, or by
    another policy. Needs no running system. Ends with 2 when the scenario is wrong."""
    simulator = importlib.import_module(SIMULATOR)
    try:
        given = simulator.read_scenario(scenario)
        changes: dict[str, Any] = {"policy": policy, "seed": seed}
        wanted = {name: value for name, value in changes.items() if value is not None}
        given = given.model_copy(update=wanted)
        found: SimulationResult = simulator.simulate(
            given, folder=scenario.parent, with_timeline=svg is not None
        )
    except ValueError as error:
        # Of a file with many faults, each has its line.
        for line in str(error).splitlines():
            err.print(f"error: {line}")
        raise typer.Exit(2) from None
    if svg is not None:
        _draw(found, svg)
    if as_json:
        print_json(found.model_copy(update={"timeline": None}))
    else:
        _print(found)


def _draw(found: SimulationResult, file: Path) -> None:
    title = f"{found.scenario}: {found.policy}, seed {found.seed}"
    drawing = importlib.import_module(DRAWING).draw_timeline(found.timeline, title=title)
    try:
        file.write_text(drawing, encoding="utf-8")
    except OSError as error:
        err.print(f"error: {error}")
        raise typer.Exit(1) from None
    err.print(f"picture in {file}")


def _print(found: SimulationResult) -> None:
    print_table(
        ["kind", "jobs", "open", "loads", "lost", *_headings("waiting"), *_headings("working")],
        [
            (
                kind.kind, kind.jobs, kind.open, kind.loads, kind.lost,
                *_figures(kind.waiting), *_figures(kind.working),
            )
            for kind in found.kinds
        ],
        empty="there are no kinds of work",
    )  # fmt: skip
    out.print(
        f"{found.finished} of {found.pages} pages in {_seconds(found.end)}, by {found.policy},"
        f" seed {found.seed}; places work {found.busy:.1%} of the time, load {found.loading:.1%}"
    )
    if found.passage is not None and found.waiting is not None and found.working is not None:
        out.print(
            f"of a page, mean: waiting {_seconds(found.waiting.mean)}, working"
            f" {_seconds(found.working.mean)}; passage {_seconds(found.passage.mean)}, 9 of 10"
            f" within {_seconds(found.passage.p90)}, at most {_seconds(found.passage.most)}"
        )
    if found.finished < found.pages:
        err.print(f"{found.pages - found.finished} pages had not passed when it ended")


def _headings(what: str) -> tuple[str, str]:
    return (f"{what}: mean", "9 of 10")


def _figures(spread: Spread | None) -> tuple[str, str]:
    return ("", "") if spread is None else (_seconds(spread.mean), _seconds(spread.p90))


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:.0f} s"
