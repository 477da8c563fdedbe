"""The commands `sluice pilot …`."""

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from sluice.cli.consent import Consent, with_consent
from sluice.cli.errors import plain_errors
from sluice.cli.lookup import pilot_called, the_pilot
from sluice.cli.moments import local_time
from sluice.cli.options import PilotArgument
from sluice.cli.output import err, out, print_json, print_table
from sluice.cli.system import System, with_system
from sluice.contracts.common.numbers import counted, in_full
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
    page = system.ask(lambda c: c.operator.pilots(after=after, limit=limit))
    pilots = page.pilots
    if page.after is not None:
        err.print(f"there are more: --after {page.after}")
    if system.as_json:
        print_json(pilots)
        return
    jobs = ("cores", "memory", "running", "ahead", "finished", "failed", "seen")
    more = [name for name, told in _MORE.items() if any(map(told, pilots))]
    print_table(
        ["pilot", "name", "host", "state", "sandbox", *more, *jobs],
        [_row(pilot, more) for pilot in pilots],
        empty="no pilot: start one with `sluice-pilot` on a compute node",
    )


@app.command("show")
@with_system
def show(system: System, pilot: PilotArgument) -> None:
    """Show a pilot: what its node has, what it runs, what it did last, and what failed there."""
    uid = the_pilot(system, pilot)
    found = system.ask(lambda c: c.operator.pilot(uid))
    if system.as_json:
        print_json(found)
        return
    shown, has = found.pilot, found.pilot.resources
    out.print(f"{shown.name} on {shown.host}: {shown.activity.value}")
    if shown.trouble:
        out.print(f"takes no jobs: {shown.trouble}")
    gpus = f", {has.gpus_in_words}" if has.gpus else ""
    out.print(f"{in_full(has.cores)} cores, {has.ram} MiB of memory, {has.disk} MiB of disk{gpus}")
    for told in (has.part_in_words, named_in_words(has.named), labels_in_words(has.labels)):
        if told:
            out.print(told)
    for tool in shown.loaded:
        out.print(
            f"loaded: {tool}, since {local_time(tool.since)}, {tool.memory:.0f} MiB, loading took"
            f" {tool.loading:.1f} s"
        )
    taken = ", ".join(f"{name} {used}" for name, used in shown.in_use().items())
    out.print(f"its jobs take: {taken}")
    since, seen = local_time(shown.registered_at), local_time(shown.seen_at)
    out.print(f"pilot {shown.uid}, since {since}, seen {seen}")
    columns = ["job", "step", "attempt", "since", "took", "how it ended"]
    print_table(columns, [_job(job) for job in found.jobs], empty="it has no job now")
    if found.steps:
        out.print(f"\nits last {counted(found.attempts, 'attempt')}, by step:")
        print_table(
            ["step", "template", "finished", "failed", "mean", "longest"],
            [_step(step) for step in found.steps],
            empty="",
        )
    if found.known:
        out.print("\nwhat is known of its work, over restarts:")
        print_table(
            ["step", "template", "finished", "failed", "a job takes"],
            [_known(work) for work in found.known],
            empty="",
        )
    if found.failures:
        out.print("\nwhat failed there last:")
        print_table(columns, [_job(job) for job in found.failures], empty="")


@app.command("stop")
@with_system
@with_consent
def stop(system: System, consent: Consent, pilot: PilotArgument) -> None:
    """Stop a pilot: it stops its jobs, hands them back, and ends.

    Other pilots get the jobs, and no failure is counted. The work done so far is lost. `drain` lets
    the jobs end. A pilot of `sluice up` is started again.
    """
    meant = system.ask(lambda c: pilot_called(c, pilot))
    consent.require(
        f"stop pilot {meant.name} ({meant.uid}) on {meant.host}: what its"
        f" {counted(meant.running, 'running job')} have done is lost"
    )
    system.ask(lambda c: c.operator.stop_pilot(meant.uid))
    system.answer(
        {"pilot_uid": str(meant.uid), "stopping": True},
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
    uid = the_pilot(system, pilot)
    asked = plain_errors(lambda: LoadTool(step=step))
    system.ask(lambda c: c.operator.load_tool(uid, asked))
    said = (
        "jobs go to it by their rank again"
        if step is None
        else f"it finishes what it has; then jobs of {step} go to it before all others"
    )
    system.answer({"pilot_uid": str(uid), "load": step}, said)


@app.command("remove")
@with_system
@with_consent
def remove(system: System, consent: Consent, pilot: PilotArgument) -> None:
    """Remove a pilot from the lists, if it has ended or was lost. Its history stays."""
    meant = system.ask(lambda c: pilot_called(c, pilot))
    consent.require(f"take pilot {meant.name} ({meant.uid}, {meant.state}) off the lists")
    system.ask(lambda c: c.operator.remove_pilot(meant.uid))
    system.answer({"pilot_uid": str(meant.uid), "removed": True}, "it is on no list any more")


@app.command("drain")
@with_system
def drain(
    system: System,
    pilot: PilotArgument,
) -> None:
    """Let a pilot finish what it has and end. A pilot of `sluice up` is started again."""
    uid = the_pilot(system, pilot)
    system.ask(lambda c: c.operator.drain_pilot(uid))
    system.answer(
        {"pilot_uid": str(uid), "draining": True},
        "it takes nothing more, and ends when it is done",
    )


def _job(job: PilotJob) -> tuple[object, ...]:
    began = job.started_at or job.leased_at
    took = "" if job.seconds is None else f"{job.seconds:.1f} s"
    how = "" if job.outcome is None else job.outcome.value
    why = f"{how}: {job.message}" if job.message else how
    return (job.job_id, job.step, job.attempt, local_time(began), took, why)


def _known(work: KnownWork) -> tuple[object, ...]:
    takes = "–" if work.seconds is None else f"{work.seconds:.1f} s"
    failed = (
        "–" if work.failures is None else f"{work.failures} of {work.jobs + work.failures} attempts"
    )
    return (work.step, work.template, work.jobs, failed, takes)


def _step(step: PilotStep) -> tuple[object, ...]:
    times = ("" if time is None else f"{time:.1f} s" for time in (step.mean, step.longest))
    return (step.step, step.template, step.finished, step.failed, *times)


def _named(pilot: Pilot) -> str:
    used = pilot.in_use()
    return ", ".join(f"{used[name]} {name}" for name in pilot.resources.named)


#: The columns that appear if any pilot has a value for them.
_MORE: dict[str, Callable[[Pilot], str]] = {
    "part": lambda pilot: pilot.resources.part or "",
    "gpus": lambda pilot: pilot.resources.gpus_in_words,
    "resources": _named,
    "labels": lambda pilot: labels_in_words(pilot.resources.labels),
    "loaded": lambda pilot: ", ".join(map(str, pilot.loaded)),
}


def _row(pilot: Pilot, more: Sequence[str]) -> tuple[object, ...]:
    """Return the row of a pilot, with the additional columns ``more``.

    The column ``ahead`` counts jobs that wait for those that the pilot runs. ``cores`` and
    ``memory`` are what its jobs use of what it has.
    """
    ahead = max(0, pilot.running + pilot.leased - pilot.busy_slots)
    used = pilot.in_use("/")
    jobs = (pilot.busy_slots, ahead, pilot.finished, pilot.failed)
    node = (pilot.name, pilot.host, pilot.activity.value, pilot.sandbox.value)
    told = [_MORE[name](pilot) for name in more]
    return (
        pilot.uid,
        *node,
        *told,
        used["cores"],
        used["memory"],
        *jobs,
        local_time(pilot.seen_at),
    )
