"""The report at the end of the demonstration, by step and by run."""

from collections.abc import Sequence

from sluice.clientkit.output import out, print_table
from sluice.contracts.chains.chains import ChainTask
from sluice.contracts.common.numbers import size_text
from sluice.contracts.common.states import ChainState
from spd.demo_run import ProcessedRun
from spd.report import summarise


def print_report(runs: Sequence[ProcessedRun]) -> None:
    """Print a table of steps, the failures with their reasons, and a table of runs."""
    out.print()
    print_table(
        ["run", "step", "state", "jobs", "failed", "seconds"],
        [(run.plan.number, *_step_row(task)) for run in runs for task in run.tasks],
        empty="no step was started",
    )
    for run in runs:
        for step, job in run.failures:
            out.print(f"\nrun {run.plan.number}, {step}, {', '.join(job.inputs)}: {job.message}")
        if run.chain.state is not ChainState.FINISHED:
            out.print(f"\nrun {run.plan.number} {run.chain.state.value}: {run.chain.reason}")
    out.print()
    print_table(
        ["run", "frames", "events in", "events kept", "raw data", "output", "removed", "seconds"],
        [_run_row(run) for run in runs if run.outputs],
        empty="no run has an output",
    )
    for run in runs:
        if run.outputs:
            verdict = "exactly those" if run.exact else "NOT those"
            out.print(
                f"run {run.plan.number}: the events kept are {verdict} that the generator knows, in"
                " their order"
            )


def _step_row(task: ChainTask) -> tuple[object, ...]:
    jobs = task.jobs
    if jobs is None:
        return (task.step, task.state.value, 0, 0, 0.0)
    seconds = (
        (jobs.ended_at - jobs.started_at).total_seconds()
        if jobs.ended_at and jobs.started_at
        else 0.0
    )
    return (task.step, task.state.value, jobs.total, jobs.failed, round(seconds, 1))


def _run_row(run: ProcessedRun) -> tuple[object, ...]:
    figures = summarise(run.root_files())
    output_bytes = sum(output.file.size for output in run.outputs)
    return (
        run.plan.number,
        figures.frames,
        figures.events_built,
        figures.events_kept,
        size_text(run.raw_bytes),
        size_text(output_bytes),
        f"{1 - output_bytes / run.raw_bytes:.1%}",
        round(run.seconds, 1),
    )
