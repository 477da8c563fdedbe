"""`sluice simulate`: how long a workload takes with given nodes and a given policy."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sluice.cli.commands.jobs.recorded_runs import read_runs
from sluice.cli.object_lookup import resolve_chain_uid
from sluice.cli.system import System, with_system
from sluice.clientkit.output import err, out, print_json, print_table
from sluice.contracts.common.numbers import format_count, seconds_text
from sluice.contracts.jobs.simulation import PolicyName, Replay, SimulationResult
from sluice.contracts.jobs.times import Spread
from sluice.text.os_errors import os_error_sentence

#: The simulator, the conversion of runs to scenarios, and the drawing of time lines. These modules
#: are imported by name.
SIMULATOR, RECORDED = "wms.simulation.entry", "wms.simulation.recorded"
DRAWING = "wfms.operator.web.domain.timeline_drawing"

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
        int | None, typer.Option(min=0, help="Another seed, for other items and times.")
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", help="Write a picture to this file: which place did what when."),
    ] = None,
    write: WriteOption = None,
) -> None:
    """Run a scenario in simulated time, and show how long items wait and are worked on.

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
        result = _simulate_scenario(scenario, changes, with_timeline=svg is not None)
        _show(result, result, svg=svg, as_json=system.as_json)
        return
    replay = _replay_runs(
        system,
        from_run or [],
        {**changes, "with_timeline": svg is not None},
        replay_nodes=(nodes, speed),
        write=write,
    )
    _show(replay, replay.asked or replay.same, svg=svg, as_json=system.as_json)


def _simulate_scenario(
    file: Path, changes: dict[str, Any], *, with_timeline: bool
) -> SimulationResult:
    simulator = importlib.import_module(SIMULATOR)
    with _end_on_invalid_scenario():
        simulated_scenario = simulator.read_scenario(file)
        updates = {name: value for name, value in changes.items() if value is not None}
        simulated_scenario = simulated_scenario.model_copy(update=updates)
        result: SimulationResult = simulator.simulate(
            simulated_scenario, folder=file.parent, with_timeline=with_timeline
        )
    return result


def _replay_runs(
    system: System,
    chains: Sequence[str],
    changes: dict[str, Any],
    *,
    replay_nodes: tuple[int | None, float | None],
    write: Path | None,
) -> Replay:
    uids = list(dict.fromkeys(resolve_chain_uid(system, chain) for chain in chains))
    runs = system.ask(lambda c: read_runs(c, uids))
    recorded = importlib.import_module(RECORDED)
    with _end_on_invalid_scenario():
        scenario = recorded.build_recorded_scenario(
            runs, stem="run" if write is None else write.stem
        )
        replay: Replay
        replay, other = recorded.replay(
            scenario, new_nodes=recorded.ReplayNodes(*replay_nodes), **changes
        )
    if write is not None:
        _write("scenario", write, lambda: other.write(write))
    return replay


@contextmanager
def _end_on_invalid_scenario() -> Iterator[None]:
    """End the command with status 2 if a scenario is wrong, with a line for each fault."""
    try:
        yield
    except ValueError as error:
        for line in str(error).splitlines():
            err.print(f"error: {line}")
        raise typer.Exit(2) from None


def _show(
    outcome: SimulationResult | Replay, result: SimulationResult, *, svg: Path | None, as_json: bool
) -> None:
    """Print the result with the figures of ``result``, and draw the picture of ``result``."""
    if svg is not None:
        title = f"{result.scenario}: {result.policy}, seed {result.seed}"
        drawing = importlib.import_module(DRAWING).draw_timeline(result.timeline, title=title)
        _write("picture", svg, lambda: svg.write_text(drawing, encoding="utf-8"))
    if as_json:
        without = {"timeline": None}
        if isinstance(outcome, Replay):
            result = outcome.same.model_copy(update=without)
            requested = outcome.asked and outcome.asked.model_copy(update=without)
            print_json(outcome.model_copy(update={"same": result, "asked": requested}))
        else:
            print_json(result.model_copy(update=without))
        return
    if isinstance(outcome, Replay):
        _print_replay(outcome)
    _print(result)


def _write(what: str, file: Path, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        err.print(f"error: {os_error_sentence(error)}")
        raise typer.Exit(1) from None
    err.print(f"{what} in {file}")


def _print_replay(replay: Replay) -> None:
    """Print how long a run took, and how long its simulations take."""
    rows = [("as it ran", "", seconds_text(replay.measured), "")]
    simulated = [("simulated on the same nodes", replay.same)]
    if replay.asked is not None:
        simulated.append(("simulated as asked for", replay.asked))
    for what, result in simulated:
        ratio = f"{result.end / replay.measured:.2f} ×" if replay.measured else ""
        rows.append((what, result.policy, seconds_text(result.end), ratio))
    print_table(["run", "policy", "took", "of what it took"], rows, empty="")
    if replay.untimed:
        err.print(f"{format_count(replay.untimed, 'job')} without a time: not simulated")
    if replay.lost:
        err.print(f"{format_count(replay.lost, 'attempt')} did not succeed: not simulated")


def _print(result: SimulationResult) -> None:
    print_table(
        ["kind", "jobs", "open", "loads", "lost", *_headings("waiting"), *_headings("working")],
        [
            (
                kind.kind, kind.jobs, kind.open, kind.loads, kind.lost,
                *_figures(kind.waiting), *_figures(kind.working),
            )
            for kind in result.kinds
        ],
        empty="there are no kinds of work",
    )  # fmt: skip
    out.print(
        f"{result.finished} of {result.pages} items in {seconds_text(result.end)}, by"
        f" {result.policy}, seed {result.seed}; places work {result.busy:.1%} of the time, load"
        f" {result.loading:.1%}"
    )
    if result.passage is not None and result.waiting is not None and result.working is not None:
        out.print(
            f"mean of an item: waiting {seconds_text(result.waiting.mean)}, working"
            f" {seconds_text(result.working.mean)}; turnaround"
            f" {seconds_text(result.passage.mean)}, p90 {seconds_text(result.passage.p90)},"
            f" at most {seconds_text(result.passage.most)}"
        )
    if result.finished < result.pages:
        err.print(f"{result.pages - result.finished} items had not passed when it ended")


def _headings(what: str) -> tuple[str, str]:
    return (f"{what}: mean", "p90")


def _figures(spread: Spread | None) -> tuple[str, str]:
    return ("", "") if spread is None else (seconds_text(spread.mean), seconds_text(spread.p90))
