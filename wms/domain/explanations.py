"""Explanations of why a task or job does not run or how it ended, in one sentence with numbers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sluice.contracts.common.numbers import counted, in_full, size_text
from sluice.contracts.common.states import JobState, TaskState
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.jobs.resources import named_in_words
from sluice.contracts.jobs.steps import StepPriority, off_in_words
from sluice.contracts.jobs.tasks import Job, TaskStatus
from sluice.scheduling.fit import gpus_in_words, why_unsuited
from wms.domain.scheduling.limits import UsingStep
from wms.domain.scheduling.matching import (
    ENGINES,
    USERS,
    Demand,
    PilotNode,
    misfit,
    order,
    sandbox_for,
)


@dataclass(frozen=True, slots=True)
class StepBefore:
    """The upstream task: its step, ended jobs, jobs so far, and files that it wrote."""

    step: str
    ended: int
    total: int
    given: int


@dataclass(frozen=True, slots=True)
class ReservedJobs:
    """Ready jobs that pilot ``asking`` does not get because other pilots will end them earlier.

    ``busy`` is the first of these pilots, earlier by ``sooner`` seconds. Pilots are given by name
    and host.
    """

    jobs: int
    asking: str
    busy: str
    sooner: float


@dataclass(frozen=True, slots=True)
class MissingRoom:
    """A full storage that a task's jobs write to.

    Attributes:
        storage: Its name or URL.
        needed: Bytes that the largest attempt requested; 0 if there was no attempt.
        free: Free bytes; None if unknown.
        is_tried: One job may start, as a trial.
    """

    storage: str
    needed: int
    free: int | None
    is_tried: bool


@dataclass(frozen=True, slots=True)
class WaitingFacts:
    """What a task's waiting depends on.

    Attributes:
        demands: All tasks with ready jobs.
        nodes: Nodes of active pilots.
        paused: Number of its ready jobs that pause before a retry.
        next_in: Seconds until the next of these may be retried.
        priority: What people have set for its step.
        before: The upstream task whose files it takes as they come.
        kept: Ready jobs that an idle pilot leaves for a busy one.
        distrusted: Pilots, by name and host, where its jobs fail though they succeed elsewhere.
        reserved: The name of the pilot that is reserved for it.
    """

    demands: Sequence[Demand]
    nodes: Sequence[PilotNode]
    paused: int = 0
    next_in: float | None = None
    #: The steps that use most of a limited resource that a job of the task lacks.
    holders: Mapping[str, Sequence[UsingStep]] = field(default_factory=dict)
    priority: StepPriority | None = None
    before: StepBefore | None = None
    kept: ReservedJobs | None = None
    distrusted: Sequence[str] = ()
    reserved: str | None = None
    #: None if its storages have room, as far as is known.
    room: MissingRoom | None = None


def task_explanation(task: TaskStatus, facts: WaitingFacts) -> str:
    """Return one sentence about the state of the task."""
    match task.state:
        case TaskState.FINISHED:
            return f"Finished: {task.reason}."
        case TaskState.FAILED | TaskState.CANCELED:
            return f"{task.state.capitalize()}: {task.reason}."
        case TaskState.WAITING:
            reason = task.reason or "waiting for its turn to be split into jobs"
            return f"{reason[:1].upper()}{reason[1:]}."
        case TaskState.SPLITTING | TaskState.ACTIVE:
            sentence = _explain_live(task, facts)
            return f"{sentence.removesuffix('.')}; {task.reason}." if task.reason else sentence


def with_boost(sentence: str, *, by: float, reason: str) -> str:
    """Add to the sentence that the task's rank is raised, and the reason."""
    return f"{sentence.removesuffix('.')}; its rank is raised by {in_full(by)}, because {reason}."


#: Most further reasons that an explanation names.
_MAX_REASONS = 3


def _explain_live(task: TaskStatus, facts: WaitingFacts) -> str:
    done = f"{task.finished} of {counted(task.total, 'job')} finished"
    flying = task.leased + task.running
    if flying:
        quarantined = f", {task.quarantined} quarantined" if task.quarantined else ""
        off = "" if (why := why_off(facts)) is None else f"; {why}"
        if task.ready and not off and facts.room is not None:
            off = f"; the others wait for room: {why_no_room(facts.room)}"
        passed = _passed_over(facts) if task.ready and not off else ""
        return (
            f"In work: {done}, {flying} with pilots, {task.ready} ready{quarantined}{off}{passed}."
        )
    if task.ready == 0:
        return _explain_none_ready(task, facts, done)
    if facts.room is not None:
        return f"{_wait_for_room(facts.room)} ({task.ready} ready, {done})."
    if facts.paused >= task.ready:
        return (
            f"Backing off: {counted(task.ready, 'job')} will be tried again, the first in"
            f" {facts.next_in or 0.0:.1f} s ({done})."
        )
    why = why_waiting(task, facts)
    return f"{why} ({task.ready} ready, {done}){_passed_over(facts)}."


def why_no_room(room: MissingRoom) -> str:
    """Return what is missing where, and what to do."""
    if room.needed and room.free is not None and room.free >= room.needed:
        tried = "one is tried now" if room.is_tried else "they are tried one by one"
        return (
            f"storage {room.storage} had too little room for what its jobs wrote together; now"
            f" {size_text(room.free)} are free, a job needs {size_text(room.needed)}, and {tried}"
        )
    said = f"storage {room.storage} is full"
    if room.needed:
        said += f": a job needs {size_text(room.needed)}"
        if room.free is not None:
            said += f", {size_text(room.free)} free"
    elif room.free is not None:
        said += f": {size_text(room.free)} free"
    if room.is_tried:
        return f"{said}; one job is tried now"
    return f"{said}; make room there, and they go on by themselves"


def _wait_for_room(room: MissingRoom) -> str:
    return f"Waiting for room: {why_no_room(room)}"


def _passed_over(facts: WaitingFacts) -> str:
    """Return which pilots get no ready job though they could run one; empty if none."""
    said = ""
    if (kept := facts.kept) is not None:
        which, it = ("one is", "it") if kept.jobs == 1 else (f"{kept.jobs} are", "the first")
        said += (
            f"; {which} kept for pilot {kept.busy}, which will have ended {it}"
            f" {kept.sooner:.0f} s before {kept.asking}"
        )
    if facts.distrusted:
        names = ", ".join(facts.distrusted[:_MAX_REASONS])
        more = len(facts.distrusted) - _MAX_REASONS
        said += (
            f"; seldom given to {names}{f' and {more} more' if more > 0 else ''}, where its jobs"
            " fail and elsewhere succeed"
        )
    return said


def _explain_none_ready(task: TaskStatus, facts: WaitingFacts, done: str) -> str:
    if task.asked:
        return f"Waits for answers of people: {task.asked} ({done})."
    if task.quarantined:
        jobs = counted(task.quarantined, "job")
        return (
            f"Waiting for a person: {done}, {jobs} quarantined after pilots were lost with them;"
            " retry or cancel."
        )
    if task.state is TaskState.SPLITTING:
        if facts.before is not None:
            return _explain_flow(task, facts.before)
        return f"Its input is being split into jobs: {task.total} so far."
    return f"About to end: {done}."


def _explain_flow(task: TaskStatus, before: StepBefore) -> str:
    return (
        f"Takes what step {before.step} gives as it comes: {before.given} of"
        f" {counted(before.total, 'job')} so far, {before.total - before.ended} to end, and its own"
        f" {counted(task.total, 'job')} made of that have ended."
    )


def why_waiting(task: TaskStatus, facts: WaitingFacts) -> str:
    """Return why ready jobs of the task are not leased."""
    off = why_off(facts)
    return _why_passed_over(task, facts) if off is None else f"{off[:1].upper()}{off[1:]}"


def _why_passed_over(task: TaskStatus, facts: WaitingFacts) -> str:
    own = next((demand for demand in facts.demands if demand.uid == task.uid), None)
    if not facts.nodes:
        return "No pilot: none has registered that is alive and takes jobs"
    if own is None:
        return "Its jobs are being looked at"
    reasons = [misfit(own, node) for node in facts.nodes]
    if all(reason is not None for reason in reasons):
        return f"No pilot fits: a job {why_none_fits(own, facts.nodes)}"
    scarce = _why_scarce(own, facts)
    if scarce is not None:
        return f"Waiting for {scarce}"
    if own.kept_by is not None:
        return (
            f"Waiting for room: pilot {facts.reserved or own.kept_by} gets nothing of lower rank"
            f" until a job fits, which {_need(own)}"
        )
    return _why_behind(own, facts)


def _why_behind(own: Demand, facts: WaitingFacts) -> str:
    have = "has" if len(facts.nodes) == 1 else "have"
    ahead = order(facts.demands)
    before = ahead[: ahead.index(own)]
    if before:
        jobs = sum(demand.ready for demand in before)
        return (
            f"Waiting behind {counted(len(before), 'task')} of higher rank or age with"
            f" {counted(jobs, 'ready job')}"
        )
    return (
        f"Next in line: {counted(len(facts.nodes), 'pilot')} {have} no room left, or will ask for"
        " jobs in a moment"
    )


def why_off(facts: WaitingFacts) -> str | None:
    """Return that the step is switched off, or None if it is not."""
    if facts.priority is None or not facts.priority.is_off:
        return None
    return off_in_words(facts.priority)


def _why_scarce(demand: Demand, facts: WaitingFacts) -> str | None:
    """Return which limit over all nodes lets no job start now."""
    for name, limit in demand.limits.items():
        why = limit.why_none(demand.needs.named[name], facts.holders.get(name, ()))
        if why is not None:
            return f"{name}: {why}"
    return None


def _need(demand: Demand) -> str:
    needs = demand.needs
    cores = needs.resources.cores
    wishes = [f"{cores:g} {'core' if cores == 1 else 'cores'}", f"{demand.ram} MiB of memory"]
    if needs.resources.counted_disk:
        wishes.append(f"{needs.resources.disk} MiB of disk")
    if needs.named:
        wishes.append(named_in_words(needs.named))
    gpus = "" if needs.gpus is None else f" and {gpus_in_words(needs.gpus)}"
    return f"needs {', '.join(wishes)}{gpus}"


def why_none_fits(demand: Demand, nodes: Sequence[PilotNode]) -> str:
    """Return what a job needs that the largest of these nodes lacks."""
    needs, several = demand.needs, len(nodes) > 1
    able = [node for node in nodes if node.engines] if needs.needs_engine else nodes
    if not able:
        none = f"none of the {len(nodes)} pilots has" if several else "the only pilot has none of"
        return f"needs a container, and {none} {ENGINES}"
    if needs.sandbox:
        able = [node for node in able if node.has_sandbox]
    if not able and needs.needs_engine:
        return f"needs a container and {sandbox_for(needs)}, and no pilot has both"
    if not able:
        none = f"none of the {len(nodes)} pilots has one" if several else "the only pilot has none"
        who = "some have" if several else "it has"
        instead = f" ({who} {USERS})" if any(node.has_users for node in nodes) else ""
        return f"needs {sandbox_for(needs)}, and {none}{instead}"
    largest = max(able, key=lambda node: _size(node, needs))
    why = misfit(demand, largest)
    others = Counter(_need_in(reason) for node in able if (reason := misfit(demand, node)))
    del others[_need_in(why or "")]
    rest = "".join(
        f"; {number} {'other' if number == 1 else 'others'}: {next(_reasons(demand, able, need))}"
        for need, number in others.most_common(_MAX_REASONS)
    )
    return f"{why} (the largest of {counted(len(nodes), 'pilot')}{rest})"


def _reasons(demand: Demand, nodes: Sequence[PilotNode], need: str) -> Iterator[str]:
    """Yield the reasons of the nodes that lack this need."""
    reasons = (misfit(demand, node) for node in nodes)
    return (reason for reason in reasons if reason is not None and _need_in(reason) == need)


def _need_in(reason: str) -> str:
    """Return what is needed, without what the node has of it."""
    return reason.partition(", the ")[0]


def _size(node: PilotNode, needs: Needs) -> tuple[bool, int, float, int]:
    """Return a sort key of a node; nodes with suitable GPUs come last."""
    gpus, has = needs.gpus, node.resources
    suited = gpus is None or why_unsuited(has.known_gpus, gpus) is None
    return suited, len(has.gpus), has.cores, has.ram


def job_explanation(  # noqa: PLR0911 - one sentence for each state
    job: Job, task: TaskStatus, *, retry: int, next_in: float | None, facts: WaitingFacts
) -> str:
    """Return one sentence about the state of the job.

    ``retry`` is the most attempts that count. ``next_in`` is the number of seconds until it may be
    retried.
    """
    tries = f"{job.attempt} of at most {retry}" if job.attempt <= retry else str(job.attempt)
    last = f"{job.error_class}: {job.message}" if job.error_class else job.message
    match job.state:
        case JobState.READY if facts.room is not None:
            return f"{_wait_for_room(facts.room)}."
        case JobState.READY if next_in is not None and next_in > 0:
            return (
                f"Backing off for another {next_in:.1f} s after attempt {tries}, which ended with"
                f" {last}."
            )
        case JobState.READY:
            return f"Ready: {why_waiting(task, facts)}."
        case JobState.LEASED:
            return (
                f"Given to pilot {job.attempts[-1].pilot_uid} (attempt {job.attempt}), which has"
                " not started it yet."
            )
        case JobState.RUNNING:
            return f"Running on pilot {job.attempts[-1].pilot_uid} (attempt {job.attempt})."
        case JobState.FINISHED:
            return (
                f"Finished with attempt {job.attempt}."
                if job.attempt
                else f"Finished: {job.message}, run before."
            )
        case JobState.FAILED:
            return f"Failed with attempt {tries}: {last}."
        case JobState.QUARANTINED:
            attempts = counted(job.attempt, "attempt")
            lost = (
                "several in a row were lost with their pilots, or ended for want of their nodes'"
                " memory"
            )
            return f"Quarantined after {attempts}: {lost} ({last}); retry or cancel."
        case JobState.ASKED:
            return "Waits for the answers of people; no pilot is given it."
        case JobState.CANCELED:
            return f"Canceled: {job.message.removeprefix('canceled: ') or 'by request'}."
