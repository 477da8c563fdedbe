"""Notices of what needs a person: of events until acknowledged, of conditions until over."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from sluice.contracts.chains.attention import Notice, NoticeSeverity, Subject
from sluice.contracts.chains.chains import Chain
from sluice.contracts.chains.intake import Tie
from sluice.contracts.common.labels import find_chain_uid, label
from sluice.contracts.common.numbers import size_text
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import (
    ChainDatasetStatus,
    ChainState,
    DatasetState,
    DatasetType,
    JobState,
    PilotState,
)
from sluice.contracts.data.datasets import Dataset, StalledGroup, Storage
from sluice.contracts.data.storage_space import StorageWait
from sluice.contracts.jobs.steps import StepLoad, StepPriority, describe_disabled_step
from sluice.contracts.jobs.tasks import TaskStatus, UnschedulableTask
from sluice.contracts.pilots.pilot_list import Pilot
from sluice.text.visible_text import quoted
from wfms.operator.chains.domain.formatting import count_text
from wfms.operator.chains.domain.progress import chain_progress

#: Part of the notice that counts unmatched data sets.
UNMATCHED = "nothing processes"

_PRESENT = frozenset({PilotState.ACTIVE, PilotState.DRAINING})


class NoSuchNotice(Unprocessable):
    """The id does not belong to a notice that can be acknowledged."""

    def __init__(self, notice: str) -> None:
        super().__init__(
            f"{quoted(notice)} is not the id of a notice that can be acknowledged", notice=notice
        )


def sort_notices(notices: Iterable[Notice]) -> list[Notice]:
    """Return errors first, and among equal severity notices about the whole system first."""
    return sorted(
        notices,
        key=lambda notice: (notice.severity is not NoticeSeverity.ERROR, _concerns_one(notice)),
    )


def _concerns_one(notice: Notice) -> bool:
    return any((notice.id, notice.chain_uid, notice.task_uid, notice.page))


def select_notices(notices: Iterable[Notice], *, limit: int) -> list[Notice]:
    """Return at most ``limit`` notices in order.

    Conditions and events get half of the places each, and those that the other kind does not
    need, so that neither hides the other.
    """
    ordered = sort_notices(notices)
    conditions = [place for place, notice in enumerate(ordered) if notice.id is None]
    events = [place for place, notice in enumerate(ordered) if notice.id is not None]
    selected = events[: max(limit - limit // 2, limit - len(conditions))]
    selected += conditions[: limit - len(selected)]
    return [ordered[place] for place in sorted(selected)]


def report_chain(chain: Chain) -> list[Notice]:
    """Return notices that a chain failed, or that steps of it cannot continue."""
    name = f"{chain.template} over {chain.dataset_name}"
    if chain.state is ChainState.FAILED:
        reason = chain_progress(chain, {}).reason or "no reason was given"
        text = f"{name} failed: {reason}"
        return [
            Notice(
                text=text,
                severity=NoticeSeverity.ERROR,
                id=f"{Subject.CHAIN}:{chain.uid}",
                since=chain.ended_at,
                chain_uid=chain.uid,
            )
        ]
    stuck = [
        step
        for step in chain.steps
        if step.reason and not step.state.final and not chain.state.final
    ]
    return [
        Notice(
            text=f"{name}, step {step.name}: {step.reason}",
            severity=NoticeSeverity.WARNING,
            since=step.started_at,
            chain_uid=chain.uid,
        )
        for step in stuck
    ]


def report_failures(chains: Iterable[Chain], datasets: Mapping[UUID, Dataset]) -> list[Notice]:
    """Return a notice for each finished chain with failed jobs that nobody has decided about."""
    return [
        Notice(
            text=_failures_text(chain, datasets),
            severity=NoticeSeverity.WARNING,
            id=f"{Subject.FAILURES}:{chain.uid}",
            since=chain.ended_at,
            chain_uid=chain.uid,
        )
        for chain in chains
    ]


def _failures_text(chain: Chain, datasets: Mapping[UUID, Dataset]) -> str:
    retained = [
        datasets[dataset.uid]
        for dataset in chain.datasets
        if dataset.state is not ChainDatasetStatus.FINISHED
        and dataset.uid in datasets
        and datasets[dataset.uid].type in {DatasetType.INPUT, DatasetType.INTERMEDIATE}
    ]
    files = sum(dataset.count_files for dataset in retained)
    space = f" ({count_text(files, 'file')}, {size_text(sum(one.bytes for one in retained))})"
    return (
        f"{chain.template} over {chain.dataset_name}: {count_text(chain.failed_jobs, 'job')}"
        f" failed, and the chain finished without {'it' if chain.failed_jobs == 1 else 'them'}."
        f" What a rerun needs stays{space if retained else ''} until you run the chain again"
        f" (`sluice chain rerun --failed-only {chain.uid}`), or acknowledge this: then copies and"
        " intermediate data are deleted"
    )


def report_task(task: TaskStatus, datasets: Mapping[UUID, str]) -> list[Notice]:
    """Return a notice if jobs of a task are quarantined or failed; ``datasets`` has names."""
    if task.state.final or not (task.quarantined or task.failed):
        return []
    over = f" over {datasets[task.chain_uid]}" if task.chain_uid in datasets else ""
    name = f"{task.template}{over}, step {task.step}"
    if task.quarantined:
        wait = "waits" if task.quarantined == 1 else "wait"
        text = (
            f"{name}: {count_text(task.quarantined, 'job')} took several pilots down and {wait} for"
            f" a decision{_first_job(task)}"
        )
        return [
            Notice(
                text=text, severity=NoticeSeverity.ERROR, since=task.created_at, task_uid=task.uid
            )
        ]
    errors = ", ".join(
        f"{number} × {kind.value.replace('_', ' ')}" for kind, number in task.errors.items()
    )
    text = (
        f"{name}: {count_text(task.failed, 'job')} failed for good"
        f"{f' ({errors})' if errors else ''}{_first_job(task)}"
    )
    return [
        Notice(text=text, severity=NoticeSeverity.WARNING, since=task.created_at, task_uid=task.uid)
    ]


def _first_job(task: TaskStatus) -> str:
    """Return the end of a notice: the first job that it counts, and the command that lists all."""
    state = JobState.QUARANTINED if task.quarantined else JobState.FAILED
    every = f"`sluice task jobs {task.uid} --state {state}`"
    if not task.reason:
        return f": {every}"
    return f"; {task.reason}" + (
        f"; {every} lists all" if (task.quarantined or task.failed) > 1 else ""
    )


def report_unschedulable_tasks(
    tasks: Iterable[UnschedulableTask], datasets: Mapping[UUID, str]
) -> list[Notice]:
    """Return a notice for each task whose jobs fit no node; ``datasets`` has names."""
    notices = []
    for task in tasks:
        over = f" over {datasets[task.chain_uid]}" if task.chain_uid in datasets else ""
        wait = "waits" if task.ready == 1 else "wait"
        text = (
            f"{task.template}{over}, step {task.step}: {count_text(task.ready, 'job')} {wait},"
            f" and {task.reason}"
        )
        notices.append(Notice(text=text, severity=NoticeSeverity.ERROR, task_uid=task.uid))
    return notices


def report_missing_pilots(pilots: Iterable[Pilot], *, waiting: int | None) -> list[Notice]:
    """Return a notice if jobs wait and no pilot is present."""
    if not waiting or any(pilot.state in _PRESENT for pilot in pilots):
        return []
    text = (
        f"{count_text(waiting, 'job')} {'waits' if waiting == 1 else 'wait'}, and no pilot runs:"
        " start one"
    )
    return [Notice(text=text, severity=NoticeSeverity.ERROR)]


def report_disabled_steps(loads: Iterable[StepLoad]) -> list[Notice]:
    """Return a notice for each disabled step that has waiting jobs."""
    waiting: dict[str, tuple[StepPriority, int]] = {}
    for load in loads:
        if load.priority is not None and load.priority.is_disabled and load.waiting:
            sentence = describe_disabled_step(load.priority)
            waiting[sentence] = (load.priority, waiting.get(sentence, (None, 0))[1] + load.waiting)
    notices = []
    for sentence, (priority, number) in waiting.items():
        template = f" --template {priority.template}" if priority.template else ""
        text = (
            f"{sentence[0].upper()}{sentence[1:]}, and {count_text(number, 'job')}"
            f" {'waits' if number == 1 else 'wait'} (`sluice step enable"
            f" {priority.step}{template}` enables it)"
        )
        notices.append(
            Notice(text=text, severity=NoticeSeverity.WARNING, since=priority.since, page="steps")
        )
    return notices


def report_lost_pilots(pilots: Iterable[Pilot]) -> list[Notice]:
    """Return notices of lost pilots that did not restart and that nobody has acknowledged."""
    notices = []
    latest = {
        (pilot.name, pilot.host): pilot
        for pilot in sorted(pilots, key=lambda pilot: pilot.registered_at)
    }
    lost = [
        pilot
        for pilot in latest.values()
        if pilot.state is PilotState.LOST and pilot.acknowledged is None
    ]
    for pilot in sorted(lost, key=lambda pilot: pilot.seen_at, reverse=True):
        text = (
            f"Pilot {pilot.name} on {pilot.host} stopped answering; its jobs were given to others"
        )
        notices.append(
            Notice(
                text=text,
                severity=NoticeSeverity.WARNING,
                id=f"{Subject.PILOT}:{pilot.uid}",
                since=pilot.seen_at,
            )
        )
    return notices


def report_quarantined_pilots(pilots: Iterable[Pilot]) -> list[Notice]:
    """Return notices of present pilots that fail at steps where others succeed."""
    return [
        Notice(
            text=(
                f"Pilot {pilot.name} on {pilot.host} fails at {', '.join(pilot.distrusted)}, where"
                " others succeed: it gets one job of it now and then, until that succeeds"
                f" (`sluice pilot show {pilot.uid}` says what fails)"
            ),
            severity=NoticeSeverity.WARNING,
        )
        for pilot in pilots
        if pilot.distrusted and pilot.state in _PRESENT
    ]


def report_troubled_pilots(pilots: Iterable[Pilot]) -> list[Notice]:
    """Return a notice for each present pilot that takes no jobs for a reason of its own."""
    return [
        Notice(
            text=f"Pilot {pilot.name} on {pilot.host} takes no jobs: {pilot.trouble}",
            severity=NoticeSeverity.ERROR,
        )
        for pilot in pilots
        if pilot.trouble and pilot.state in _PRESENT
    ]


def report_intake(unmatched: int, ties: Sequence[Tie]) -> list[Notice]:
    """Return notices of unmatched data sets and of ties between templates."""
    notices = []
    if unmatched:
        sets = (
            f"{count_text(unmatched, 'data set')} {'fits' if unmatched == 1 else 'fit'} no template"
        )
        text = f"{sets}: {UNMATCHED} {'it' if unmatched == 1 else 'them'}"
        notices.append(Notice(text=text, severity=NoticeSeverity.WARNING, page="unmatched"))
    for tie in ties:
        conflict = (
            f"Templates {tie.template} and {tie.other} have the same priority and match the same"
            " data sets"
        )
        notices.append(
            Notice(
                text=f"{conflict}: {tie.template} gets them",
                severity=NoticeSeverity.WARNING,
                page="unmatched",
            )
        )
    return notices


def report_stalled_transfers(stalled_groups: Iterable[StalledGroup]) -> list[Notice]:
    """Return a notice for each reason why uploads and deletions do not continue."""
    notices = []
    for stalled in stalled_groups:
        action = "upload" if stalled.state is DatasetState.UPLOADING else "deletion"
        single = stalled.number == 1
        subject = (
            f"data set {label(stalled.first)}" if single else count_text(stalled.number, "data set")
        )
        text = f"The {action} of {subject} does not go on: {stalled.reason}"
        if stalled.halted:
            text += (
                f" (it waits for `sluice dataset resume {stalled.first.uid}`)"
                if single
                else " (`sluice dataset resume`)"
            )
        severity = NoticeSeverity.ERROR if stalled.halted else NoticeSeverity.WARNING
        chain = find_chain_uid(stalled.first) if single else None
        notices.append(
            Notice(
                text=text,
                severity=severity,
                since=stalled.since,
                chain_uid=chain,
                page=None if chain else "datasets",
            )
        )
    return notices


def report_full_storages(storages: Iterable[Storage], waits: Iterable[StorageWait]) -> list[Notice]:
    """Return one notice for each full storage.

    Args:
        storages: All storages, as far as the DMS answers.
        waits: The storages that jobs wait for, as far as the WMS answers.
    """
    storages = list(storages)
    names = {one.url: one.name for one in storages}
    waiting = {wait.url: wait for wait in waits}
    full = {one.url: one for one in storages if one.full is not None and one.enabled}
    notices = []
    for url in dict.fromkeys((*waiting, *full)):
        wait = waiting.get(url)
        name = names.get(url) or (wait and wait.name) or url
        text = f"Storage {name} is full"
        if wait is not None and wait.needed and (wait.free or 0) >= wait.needed:
            text = _tried_text(name, wait)
        elif wait is None:
            text += f" ({full[url].full}): free space there, or add another storage of its type"
        else:
            jobs = f"{count_text(wait.jobs, 'job')} {'waits' if wait.jobs == 1 else 'wait'}"
            text += f"{_missing_text(wait)}: {jobs} for space. Free space there: they go on by"
            text += " themselves"
        since = None if wait is None else wait.since
        notices.append(
            Notice(text=text, severity=NoticeSeverity.ERROR, since=since, page="storages")
        )
    return notices


def _tried_text(name: str, wait: StorageWait) -> str:
    """Say that a storage has space for at least one job again, and how its jobs are tried."""
    jobs = f"{count_text(wait.jobs, 'job')} {'waits' if wait.jobs == 1 else 'wait'}"
    sizes = f"{size_text(wait.free or 0)} free now, a job needs {size_text(wait.needed)}"
    return (
        f"Storage {name} had too little space for what its jobs wrote together ({sizes}): {jobs},"
        " and one is tried at a time. More space lets them run together"
    )


def _missing_text(wait: StorageWait) -> str:
    free = "" if wait.free is None else f"{size_text(wait.free)} free"
    if not wait.needed:
        return f" ({free})" if free else ""
    missing = size_text(wait.needed - (wait.free or 0))
    free = free and f", {free}, {missing} missing"
    return f" (a job needs {size_text(wait.needed)}{free})"


def report_dead_letters(dead: Mapping[str, int]) -> list[Notice]:
    """Return a notice for each queue that has dead letters."""
    return [
        Notice(
            text=(
                f"Queue {queue} has {count_text(number, 'dead message')}: what they ask is not"
                " done, and chains wait for it"
            ),
            severity=NoticeSeverity.ERROR,
            page="queues",
        )
        for queue, number in dead.items()
        if number
    ]


def report_trouble(sentence: str) -> Notice:
    """Return the notice of a service that does not answer."""
    return Notice(text=sentence, severity=NoticeSeverity.ERROR)
