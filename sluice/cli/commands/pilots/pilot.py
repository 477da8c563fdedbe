"""The commands `sluice pilot …`."""

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.object_lookup import resolve_pilot, resolve_pilot_uid
from sluice.cli.options import PilotArgument
from sluice.cli.system import System, with_system
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import out, print_json, print_next_page_hint, print_table
from sluice.contracts.common.numbers import format_count, in_full
from sluice.contracts.jobs.resources import labels_in_words, named_in_words
from sluice.contracts.jobs.warm_workers import LoadTool
from sluice.contracts.pilots.pilot_detail import KnownWork, PilotJob, PilotStep
from sluice.contracts.pilots.pilot_list import Pilot

app = typer.Typer(no_args_is_help=True, help="Pilots, which run jobs on compute nodes.")


@app.command("list")
@with_system
def list_pilots(
    system: System,
    *,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="The maximum number of pilots.")
    ] = 200,
    after: Annotated[
        str | None, typer.Option(help="Continue where the previous list ended, as it says.")
    ] = None,
) -> None:
    """List pilots, with what they have and what they have done.

    The list has the pilots that are there, lost pilots that nobody has acknowledged, and others
    that ended within a day.
    """
    page = system.ask(lambda c: c.operator.list_pilots(after=after, limit=limit))
    pilots = page.pilots
    print_next_page_hint(page.after)
    if system.as_json:
        print_json(pilots)
        return
    jobs = ("cores", "memory", "running", "ahead", "finished", "failed", "seen")
    more = [name for name, column in _OPTIONAL_COLUMNS.items() if any(map(column, pilots))]
    print_table(
        ["pilot", "name", "host", "state", "sandbox", *more, *jobs],
        [_row(pilot, more) for pilot in pilots],
        empty="no pilot: start one with `sluice-pilot` on a compute node",
    )


@app.command("show")
@with_system
def show(system: System, pilot: PilotArgument) -> None:
    """Show a pilot: what its node has, what it runs, what it did last, and what failed there."""
    uid = resolve_pilot_uid(system, pilot)
    details = system.ask(lambda c: c.operator.get_pilot(uid))
    if system.as_json:
        print_json(details)
        return
    summary, resources = details.pilot, details.pilot.resources
    out.print(f"{summary.name} on {summary.host}: {summary.activity.value}")
    if summary.trouble:
        out.print(f"takes no jobs: {summary.trouble}")
    gpus = f", {resources.gpus_in_words}" if resources.gpus else ""
    out.print(
        f"{in_full(resources.cores)} cores, {resources.ram} MiB of memory, {resources.disk} MiB of"
        f" disk{gpus}"
    )
    for line in (
        resources.part_in_words,
        named_in_words(resources.named),
        labels_in_words(resources.labels),
    ):
        if line:
            out.print(line)
    for tool in summary.loaded:
        out.print(
            f"loaded: {tool}, since {local_time(tool.since)}, {tool.memory:.0f} MiB, loading took"
            f" {tool.loading:.1f} s"
        )
    usage = ", ".join(f"{name} {used}" for name, used in summary.in_use().items())
    out.print(f"its jobs take: {usage}")
    since, seen_at = local_time(summary.registered_at), local_time(summary.seen_at)
    version = f", version {summary.version}" if summary.version else ""
    out.print(f"pilot {summary.uid}{version}, since {since}, seen {seen_at}")
    columns = ["job", "step", "attempt", "since", "took", "how it ended"]
    print_table(columns, [_job_row(job) for job in details.jobs], empty="it has no job now")
    if details.steps:
        out.print(f"\nits last {format_count(details.attempts, 'attempt')}, by step:")
        print_table(
            ["step", "template", "finished", "failed", "mean", "longest"],
            [_step_row(step) for step in details.steps],
            empty="",
        )
    if details.known:
        out.print("\nwhat is known of its work, over restarts:")
        print_table(
            ["step", "template", "finished", "failed", "a job takes"],
            [_known_work_row(work) for work in details.known],
            empty="",
        )
    if details.failures:
        out.print("\nwhat failed there last:")
        print_table(columns, [_job_row(job) for job in details.failures], empty="")


@app.command("stop")
@with_system
@with_confirmation
def stop(system: System, confirmation: Confirmation, pilot: PilotArgument) -> None:
    """Stop a pilot: it stops its jobs, hands them back, and ends.

    Other pilots get the jobs, and no failure is counted. The work done so far is lost. `drain` lets
    the jobs end. A pilot of `sluice up` is started again.
    """
    target = system.ask(lambda c: resolve_pilot(c, pilot))
    confirmation.require(
        f"stop pilot {target.name} ({target.uid}) on {target.host}: what its"
        f" {format_count(target.running, 'running job')} have done is lost"
    )
    system.ask(lambda c: c.operator.stop_pilot(target.uid))
    system.answer(
        {"pilot_uid": str(target.uid), "stopping": True},
        "it stops its jobs and ends; other pilots get them",
    )


@app.command("load")
@with_system
def load(
    system: System,
    pilot: PilotArgument,
    step: Annotated[
        str | None,
        typer.Argument(
            metavar="STEP",
            help="The name of the step in its template. Without it, jobs come by their rank again.",
        ),
    ] = None,
) -> None:
    """Switch a pilot to the tool of a step.

    The pilot finishes what it has, and then gets jobs of this step before all others, whatever
    their rank. The first job loads the warm worker, if the tool is one. While no job of the step is
    ready, the pilot works on others.
    """
    uid = resolve_pilot_uid(system, pilot)
    request = plain_errors(lambda: LoadTool(step=step))
    system.ask(lambda c: c.operator.load_tool(uid, request))
    message = (
        "jobs go to it by their rank again"
        if step is None
        else f"it finishes what it has; then jobs of {step} go to it before all others"
    )
    system.answer({"pilot_uid": str(uid), "load": step}, message)


@app.command("remove")
@with_system
@with_confirmation
def remove(system: System, confirmation: Confirmation, pilot: PilotArgument) -> None:
    """Remove a pilot from the lists, if it has ended or was lost. Its history stays."""
    target = system.ask(lambda c: resolve_pilot(c, pilot))
    confirmation.require(f"take pilot {target.name} ({target.uid}, {target.state}) off the lists")
    system.ask(lambda c: c.operator.remove_pilot(target.uid))
    system.answer({"pilot_uid": str(target.uid), "removed": True}, "it is no longer listed")


@app.command("drain")
@with_system
def drain(
    system: System,
    pilot: PilotArgument,
) -> None:
    """Let a pilot finish what it has and end. A pilot of `sluice up` is started again."""
    uid = resolve_pilot_uid(system, pilot)
    system.ask(lambda c: c.operator.drain_pilot(uid))
    system.answer(
        {"pilot_uid": str(uid), "draining": True},
        "it takes nothing more, and ends when it is done",
    )


def _job_row(job: PilotJob) -> tuple[object, ...]:
    began = job.started_at or job.leased_at
    took = "" if job.seconds is None else f"{job.seconds:.1f} s"
    how = "" if job.outcome is None else job.outcome.value
    why = f"{how}: {job.message}" if job.message else how
    return (job.job_id, job.step, job.attempt, local_time(began), took, why)


def _known_work_row(work: KnownWork) -> tuple[object, ...]:
    takes = "–" if work.seconds is None else f"{work.seconds:.1f} s"
    failed = (
        "–" if work.failures is None else f"{work.failures} of {work.jobs + work.failures} attempts"
    )
    return (work.step, work.template, work.jobs, failed, takes)


def _step_row(step: PilotStep) -> tuple[object, ...]:
    times = ("" if time is None else f"{time:.1f} s" for time in (step.mean, step.longest))
    return (step.step, step.template, step.finished, step.failed, *times)


def _format_named_resources(pilot: Pilot) -> str:
    used = pilot.in_use()
    return ", ".join(f"{used[name]} {name}" for name in pilot.resources.named)


#: The columns that appear if any pilot has a value for them.
_OPTIONAL_COLUMNS: dict[str, Callable[[Pilot], str]] = {
    "version": lambda pilot: pilot.version,
    "part": lambda pilot: pilot.resources.part or "",
    "gpus": lambda pilot: pilot.resources.gpus_in_words,
    "resources": _format_named_resources,
    "labels": lambda pilot: labels_in_words(pilot.resources.labels),
    "loaded": lambda pilot: ", ".join(map(str, pilot.loaded)),
}


def _row(pilot: Pilot, more_columns: Sequence[str]) -> tuple[object, ...]:
    """Return the row of a pilot, with the additional columns ``more_columns``.

    The column ``ahead`` counts jobs that wait for those that the pilot runs. ``cores`` and
    ``memory`` are what its jobs use of what it has.
    """
    ahead = max(0, pilot.running + pilot.leased - pilot.busy_slots)
    used = pilot.in_use("/")
    jobs = (pilot.busy_slots, ahead, pilot.finished, pilot.failed)
    node = (pilot.name, pilot.host, pilot.activity.value, pilot.sandbox.value)
    optional_values = [_OPTIONAL_COLUMNS[name](pilot) for name in more_columns]
    return (
        pilot.uid,
        *node,
        *optional_values,
        used["cores"],
        used["memory"],
        *jobs,
        local_time(pilot.seen_at),
    )
