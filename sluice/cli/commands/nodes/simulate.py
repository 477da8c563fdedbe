"""`sluice simulate`: how long a workload takes with given nodes and a given policy."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sluice.cli.lookup import the_chain
from sluice.cli.output import err, out, print_json, print_table
from sluice.cli.recorded_runs import read_runs
from sluice.cli.system import System, with_system
from sluice.contracts.common.numbers import counted
from sluice.contracts.jobs.simulation import PolicyName, Replay, SimulationResult
from sluice.contracts.jobs.times import Spread
from sluice.text.os_errors import sentence_of

#: The simulator, the conversion of runs to scenarios, and the drawing of time lines. These modules
#: are imported by name.
SIMULATOR, RECORDED = "wms.simulation.entry", "wms.simulation.recorded"
DRAWING = "wfms.operator.chains.domain.timeline_drawing"

FromRunOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from-run",
        metavar="CHAIN",
        help="Simulate this ended chain as it ran, instead of a scenario. Repeat the"
        " option for several chains, each at the time when it came.",
    ),
]
WriteOption = Annotated[
    Path | None,
    typer.Option(
        "--write",
        metavar="SCENARIO",
        help="With --from-run: write the run as a scenario, with its tables in the same"
        " folder. You can change it, and simulate it without a system.",
    ),
]


@with_system
def simulate(  # noqa: PLR0913 - a command's options, each by its name
    system: System,
    scenario: Annotated[
        Path | None, typer.Argument(metavar="SCENARIO", help="The scenario, a YAML file.")
    ] = None,
    *,
    from_run: FromRunOption = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1, max=100_000, help="With --from-run: nodes of the kind that it had most of."
        ),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(
            min=0.001, max=1000, help="With --from-run: the speed of the nodes. 0.5: half as fast."
        ),
    ] = None,
    policy: Annotated[
        PolicyName | None, typer.Option(help="Another policy for the placement of warm workers.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Another seed, for other pages and times.")
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", help="Write a picture to this file: which place did what when."),
    ] = None,
    write: WriteOption = None,
) -> None:
    """Run a scenario in simulated time, and show how long pages wait and are worked on.

    The times are by kind of work and in total. Where jobs fit, and where warm workers are placed,
    is decided as in production, or by another policy.

    No running system is needed, except for `--from-run`. It shows what an ended chain
    would have taken with other nodes or another policy, beside what the chain took.

    The exit status is 2 if the scenario is wrong.
    """
    if (scenario is None) == (not from_run):
        raise typer.BadParameter("name a scenario, or a chain that ran: --from-run")
    if not from_run and (nodes is not None or speed is not None or write is not None):
        raise typer.BadParameter(
            "--nodes, --speed and --write are of a run: in a scenario, change its nodes"
        )
    changes: dict[str, Any] = {"policy": policy, "seed": seed}
    if scenario is not None:
        found = _simulated(scenario, changes, with_timeline=svg is not None)
        _show(found, found, svg=svg, as_json=system.as_json)
        return
    told = _replayed(
        system,
        from_run or [],
        {**changes, "with_timeline": svg is not None},
        wanted=(nodes, speed),
        write=write,
    )
    _show(told, told.asked or told.same, svg=svg, as_json=system.as_json)


def _simulated(file: Path, changes: dict[str, Any], *, with_timeline: bool) -> SimulationResult:
    simulator = importlib.import_module(SIMULATOR)
    with _wrong_ends():
        given = simulator.read_scenario(file)
        wanted = {name: value for name, value in changes.items() if value is not None}
        given = given.model_copy(update=wanted)
        found: SimulationResult = simulator.simulate(
            given, folder=file.parent, with_timeline=with_timeline
        )
    return found


def _replayed(
    system: System,
    chains: Sequence[str],
    changes: dict[str, Any],
    *,
    wanted: tuple[int | None, float | None],
    write: Path | None,
) -> Replay:
    uids = list(dict.fromkeys(the_chain(system, chain) for chain in chains))
    runs = system.ask(lambda c: read_runs(c, uids))
    recorded = importlib.import_module(RECORDED)
    with _wrong_ends():
        given = recorded.scenario_of(runs, stem="run" if write is None else write.stem)
        told: Replay
        told, other = recorded.replay(given, wanted=recorded.ReplayNodes(*wanted), **changes)
    if write is not None:
        _write("scenario", write, lambda: other.write(write))
    return told


@contextmanager
def _wrong_ends() -> Iterator[None]:
    """End the command with status 2 if a scenario is wrong, with a line for each fault."""
    try:
        yield
    except ValueError as error:
        for line in str(error).splitlines():
            err.print(f"error: {line}")
        raise typer.Exit(2) from None


def _show(
    told: SimulationResult | Replay, found: SimulationResult, *, svg: Path | None, as_json: bool
) -> None:
    """Print the result with the figures of ``found``, and draw the picture of ``found``."""
    if svg is not None:
        title = f"{found.scenario}: {found.policy}, seed {found.seed}"
        drawing = importlib.import_module(DRAWING).draw_timeline(found.timeline, title=title)
        _write("picture", svg, lambda: svg.write_text(drawing, encoding="utf-8"))
    if as_json:
        without = {"timeline": None}
        if isinstance(told, Replay):
            found = told.same.model_copy(update=without)
            asked = told.asked and told.asked.model_copy(update=without)
            print_json(told.model_copy(update={"same": found, "asked": asked}))
        else:
            print_json(found.model_copy(update=without))
        return
    if isinstance(told, Replay):
        _print_replay(told)
    _print(found)


def _write(what: str, file: Path, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        err.print(f"error: {sentence_of(error)}")
        raise typer.Exit(1) from None
    err.print(f"{what} in {file}")


def _print_replay(told: Replay) -> None:
    """Print how long a run took, and how long its simulations take."""
    rows = [("as it ran", "", _seconds(told.measured), "")]
    simulated = [("simulated on the same nodes", told.same)]
    if told.asked is not None:
        simulated.append(("simulated as asked for", told.asked))
    for what, found in simulated:
        ratio = f"{found.end / told.measured:.2f} ×" if told.measured else ""
        rows.append((what, found.policy, _seconds(found.end), ratio))
    print_table(["run", "policy", "took", "of what it took"], rows, empty="")
    if told.untimed:
        err.print(f"{counted(told.untimed, 'job')} without a time: not simulated")
    if told.lost:
        err.print(f"{counted(told.lost, 'attempt')} did not succeed: not simulated")


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
