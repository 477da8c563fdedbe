"""Explanations of why a task or job does not run or how it ended, in one sentence with numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sluice.contracts.common.numbers import format_count, in_full, size_text
from sluice.contracts.common.states import JobState, TaskState
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.jobs.resources import named_in_words
from sluice.contracts.jobs.steps import StepPriority, describe_disabled_step
from sluice.contracts.jobs.tasks import Job, TaskStatus
from sluice.scheduling.fit import describe_gpus, find_gpu_misfit
from wms.domain.scheduling.limits import UsingStep
from wms.domain.scheduling.matching import (
    ENGINES,
    USERS,
    Demand,
    PilotNode,
    describe_sandbox,
    sort_demands,
)


@dataclass(frozen=True, slots=True)
class UpstreamProgress:
    """The upstream task: its step, ended jobs, jobs so far, and files that it wrote."""

    step: str
    ended: int
    total: int
    files: int


@dataclass(frozen=True, slots=True)
class ReservedJobs:
    """Ready jobs that a pilot does not get because other pilots will finish them earlier.

    Attributes:
        jobs: Number of the jobs.
        requesting_pilot: Name and host of the pilot that does not get them.
        busy_pilot: Name and host of the pilot that will finish one of them first.
        seconds_earlier: How much earlier ``busy_pilot`` will finish it.
    """

    jobs: int
    requesting_pilot: str
    busy_pilot: str
    seconds_earlier: float


@dataclass(frozen=True, slots=True)
class MissingSpace:
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
        upstream: The upstream task whose files it streams.
        reserved_jobs: Ready jobs that an idle pilot leaves for a busy one.
        untrusted_pilots: Names and hosts of pilots where its jobs fail although they succeed
            elsewhere.
        reserved_pilot_name: The name of the pilot that is reserved for it.
        holders: The steps that use most of a limited resource that a job of the task lacks.
        missing_space: The full storage; None if its storages have space, as far as is known.
    """

    demands: Sequence[Demand]
    nodes: Sequence[PilotNode]
    paused: int = 0
    next_in: float | None = None
    holders: Mapping[str, Sequence[UsingStep]] = field(default_factory=dict)
    priority: StepPriority | None = None
    upstream: UpstreamProgress | None = None
    reserved_jobs: ReservedJobs | None = None
    untrusted_pilots: Sequence[str] = ()
    reserved_pilot_name: str | None = None
    missing_space: MissingSpace | None = None


def explain_task_state(task: TaskStatus, facts: WaitingFacts) -> str:
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


def add_boost(sentence: str, *, by: float, reason: str) -> str:
    """Add to the sentence that the task's rank is raised, and the reason."""
    return f"{sentence.removesuffix('.')}; its rank is raised by {in_full(by)}, because {reason}."


#: Most further reasons that an explanation names.
_MAX_REASONS = 3


def _explain_live(task: TaskStatus, facts: WaitingFacts) -> str:
    done = f"{task.finished} of {format_count(task.total, 'job')} finished"
    in_flight = task.leased + task.running
    if in_flight:
        quarantined = f", {task.quarantined} quarantined" if task.quarantined else ""
        note = "" if (why := explain_disabled_step(facts)) is None else f"; {why}"
        if task.ready and not note and facts.missing_space is not None:
            note = f"; the others wait for space: {describe_full_storage(facts.missing_space)}"
        passed_over = _describe_passed_over(facts) if task.ready and not note else ""
        return (
            f"In work: {done}, {in_flight} with pilots, {task.ready} ready{quarantined}"
            f"{note}{passed_over}."
        )
    if task.ready == 0:
        return _explain_none_ready(task, facts, done)
    if facts.missing_space is not None:
        return f"{_describe_storage_wait(facts.missing_space)} ({task.ready} ready, {done})."
    if facts.paused >= task.ready:
        return (
            f"Backing off: {format_count(task.ready, 'job')} will be tried again, the first in"
            f" {facts.next_in or 0.0:.1f} s ({done})."
        )
    why = explain_waiting(task, facts)
    return f"{why} ({task.ready} ready, {done}){_describe_passed_over(facts)}."


def describe_full_storage(missing: MissingSpace) -> str:
    """Return what is missing where, and what to do."""
    if missing.needed and missing.free is not None and missing.free >= missing.needed:
        trial = "one is tried now" if missing.is_tried else "they are tried one by one"
        return (
            f"storage {missing.storage} had too little space for what its jobs wrote together; now"
            f" {size_text(missing.free)} are free, a job needs {size_text(missing.needed)}, and"
            f" {trial}"
        )
    text = f"storage {missing.storage} is full"
    if missing.needed:
        text += f": a job needs {size_text(missing.needed)}"
        if missing.free is not None:
            text += f", {size_text(missing.free)} free"
    elif missing.free is not None:
        text += f": {size_text(missing.free)} free"
    if missing.is_tried:
        return f"{text}; one job is tried now"
    return f"{text}; free space there, and they go on by themselves"


def _describe_storage_wait(missing_space: MissingSpace) -> str:
    return f"Waiting for space: {describe_full_storage(missing_space)}"


def _describe_passed_over(facts: WaitingFacts) -> str:
    """Return which pilots get no ready job though they could run one; empty if none."""
    text = ""
    if (reserved := facts.reserved_jobs) is not None:
        subject, first = (
            ("one is", "it") if reserved.jobs == 1 else (f"{reserved.jobs} are", "the first")
        )
        text += (
            f"; {subject} reserved for pilot {reserved.busy_pilot}, which is expected to finish"
            f" {first} {reserved.seconds_earlier:.0f} s earlier than {reserved.requesting_pilot}"
        )
    if facts.untrusted_pilots:
        names = ", ".join(facts.untrusted_pilots[:_MAX_REASONS])
        more = len(facts.untrusted_pilots) - _MAX_REASONS
        text += (
            f"; rarely leased to {names}{f' and {more} more' if more > 0 else ''}, where its jobs"
            " fail although they succeed elsewhere"
        )
    return text


def _explain_none_ready(task: TaskStatus, facts: WaitingFacts, done: str) -> str:
    if task.asked:
        return f"Waits for answers of people: {task.asked} ({done})."
    if task.quarantined:
        jobs = format_count(task.quarantined, "job")
        return (
            f"Waiting for a person: {done}, {jobs} quarantined after pilots were lost with them;"
            " retry or cancel."
        )
    if task.state is TaskState.SPLITTING:
        if facts.upstream is not None:
            return _explain_flow(task, facts.upstream)
        return f"Its input is being split into jobs: {task.total} so far."
    return f"About to end: {done}."


def _explain_flow(task: TaskStatus, upstream: UpstreamProgress) -> str:
    return (
        f"Streams the files of step {upstream.step}: {upstream.files} of"
        f" {format_count(upstream.total, 'job')} so far, {upstream.total - upstream.ended} not"
        f" ended, and its own {format_count(task.total, 'job')} for these files have ended."
    )


def explain_waiting(task: TaskStatus, facts: WaitingFacts) -> str:
    """Return why ready jobs of the task are not leased."""
    sentence = explain_disabled_step(facts)
    return (
        _explain_not_leased(task, facts)
        if sentence is None
        else f"{sentence[:1].upper()}{sentence[1:]}"
    )


def _explain_not_leased(task: TaskStatus, facts: WaitingFacts) -> str:
    own = next((demand for demand in facts.demands if demand.uid == task.uid), None)
    if not facts.nodes:
        return "No pilot: no registered pilot is alive and takes jobs"
    if own is None:
        return "Its jobs have just become ready"
    if all(own.find_misfit(node) is not None for node in facts.nodes):
        return f"No pilot fits: a job {explain_no_fit(own, facts.nodes)}"
    scarce = _explain_scarce_resource(own, facts)
    if scarce is not None:
        return f"Waiting for {scarce}"
    if own.reserved_pilot is not None:
        return (
            f"Waiting for capacity: pilot {facts.reserved_pilot_name or own.reserved_pilot} gets"
            f" no jobs of lower rank until a job of this task fits, which {_describe_need(own)}"
        )
    return _explain_queue_position(own, facts)


def _explain_queue_position(own: Demand, facts: WaitingFacts) -> str:
    have = "has" if len(facts.nodes) == 1 else "have"
    ahead = sort_demands(facts.demands)
    before = ahead[: ahead.index(own)]
    if before:
        jobs = sum(demand.ready for demand in before)
        return (
            f"Waiting behind {format_count(len(before), 'task')} of higher rank or age with"
            f" {format_count(jobs, 'ready job')}"
        )
    return (
        f"Next in line: {format_count(len(facts.nodes), 'pilot')} {have} no capacity left, or will"
        " ask for jobs in a moment"
    )


def explain_disabled_step(facts: WaitingFacts) -> str | None:
    """Return that the step is disabled, or None if it is not."""
    if facts.priority is None or not facts.priority.is_disabled:
        return None
    return describe_disabled_step(facts.priority)


def _explain_scarce_resource(demand: Demand, facts: WaitingFacts) -> str | None:
    """Return which limit over all nodes lets no job start now."""
    for name, limit in demand.limits.items():
        reason = limit.explain_shortage(demand.needs.named[name], facts.holders.get(name, ()))
        if reason is not None:
            return f"{name}: {reason}"
    return None


def _describe_need(demand: Demand) -> str:
    needs = demand.needs
    cores = needs.resources.cores
    amounts = [f"{cores:g} {'core' if cores == 1 else 'cores'}", f"{demand.ram} MiB of memory"]
    if needs.resources.counted_disk:
        amounts.append(f"{needs.resources.disk} MiB of disk")
    if needs.named:
        amounts.append(named_in_words(needs.named))
    gpus = "" if needs.gpus is None else f" and {describe_gpus(needs.gpus)}"
    return f"needs {', '.join(amounts)}{gpus}"


def explain_no_fit(demand: Demand, nodes: Sequence[PilotNode]) -> str:
    """Return what a job needs that the largest of these nodes lacks."""
    needs, several = demand.needs, len(nodes) > 1
    suitable_nodes = [node for node in nodes if node.engines] if needs.needs_engine else nodes
    if not suitable_nodes:
        none = f"none of the {len(nodes)} pilots has" if several else "the only pilot has none of"
        return f"needs a container, and {none} {ENGINES}"
    if needs.sandbox:
        suitable_nodes = [node for node in suitable_nodes if node.has_sandbox]
    if not suitable_nodes and needs.needs_engine:
        return f"needs a container and {describe_sandbox(needs)}, and no pilot has both"
    if not suitable_nodes:
        none = f"none of the {len(nodes)} pilots has one" if several else "the only pilot has none"
        who = "some have" if several else "it has"
        instead = f" ({who} {USERS})" if any(node.has_users for node in nodes) else ""
        return f"needs {describe_sandbox(needs)}, and {none}{instead}"
    largest = max(suitable_nodes, key=lambda node: _get_node_sort_key(node, needs))
    why = demand.find_misfit(largest)
    misfits = [misfit for node in suitable_nodes if (misfit := demand.find_misfit(node))]
    others = Counter(misfit.need for misfit in misfits if why is None or misfit.need != why.need)
    examples = {misfit.need: misfit for misfit in reversed(misfits)}
    other_reasons = "".join(
        f"; {number} {'other' if number == 1 else 'others'}: {examples[need]}"
        for need, number in others.most_common(_MAX_REASONS)
    )
    which = f"the largest of {len(nodes)} pilots" if several else "the only pilot"
    return f"{why} (this is {which}{other_reasons})"


def _get_node_sort_key(node: PilotNode, needs: Needs) -> tuple[bool, int, float, int]:
    """Return a sort key of a node; nodes with suitable GPUs come last."""
    gpus, has = needs.gpus, node.resources
    suited = gpus is None or find_gpu_misfit(has.known_gpus, gpus) is None
    return suited, len(has.gpus), has.cores, has.ram


def explain_job_state(  # noqa: PLR0911 - one sentence for each state
    job: Job, task: TaskStatus, *, retry: int, next_in: float | None, facts: WaitingFacts
) -> str:
    """Return one sentence about the state of the job.

    ``retry`` is the most attempts that count. ``next_in`` is the number of seconds until it may be
    retried.
    """
    tries = f"{job.attempt} of at most {retry}" if job.attempt <= retry else str(job.attempt)
    last = f"{job.error_class}: {job.message}" if job.error_class else job.message
    match job.state:
        case JobState.READY if facts.missing_space is not None:
            return f"{_describe_storage_wait(facts.missing_space)}."
        case JobState.READY if next_in is not None and next_in > 0:
            return (
                f"Backing off for another {next_in:.1f} s after attempt {tries}, which ended with"
                f" {last}."
            )
        case JobState.READY:
            return f"Ready: {explain_waiting(task, facts)}."
        case JobState.LEASED:
            return (
                f"Leased to pilot {job.attempts[-1].pilot_uid} (attempt {job.attempt}), which has"
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
            attempts = format_count(job.attempt, "attempt")
            lost = (
                "several in a row were lost with their pilots or ended because their nodes ran out"
                " of memory"
            )
            return f"Quarantined after {attempts}: {lost} ({last}); retry or cancel."
        case JobState.ASKED:
            return "Waits for the answers of people; it is not leased to pilots."
        case JobState.CANCELED:
            return f"Canceled: its task ended as {task.state}."
