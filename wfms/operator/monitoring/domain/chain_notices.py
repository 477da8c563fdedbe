"""Notices of chains and tasks that failed or cannot continue."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from sluice.contracts.chains.attention import Notice, Subject
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.numbers import conjugate, format_count, size_text
from sluice.contracts.common.states import (
    ChainDatasetStatus,
    ChainState,
    DatasetType,
    JobState,
)
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import TaskStatus, UnschedulableTask
from wfms.operator.chains.domain.progress import chain_progress
from wfms.operator.monitoring.domain.notices import (
    describe_waiting_jobs,
    error_notice,
    warning_notice,
)


def report_chain(chain: Chain) -> list[Notice]:
    """Return notices that a chain failed, or that steps of it cannot continue."""
    name = f"{chain.template} over {chain.dataset_name}"
    if chain.state is ChainState.FAILED:
        reason = chain_progress(chain, {}).reason or "no reason was given"
        return [
            error_notice(
                f"{name} failed: {reason}",
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
        warning_notice(
            f"{name}, step {step.name}: {step.reason}", since=step.started_at, chain_uid=chain.uid
        )
        for step in stuck
    ]


def report_failures(chains: Iterable[Chain], datasets: Mapping[UUID, Dataset]) -> list[Notice]:
    """Return a notice for each finished chain with failed jobs that nobody has decided about."""
    return [
        warning_notice(
            _failures_text(chain, datasets),
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
    size = size_text(sum(one.bytes for one in retained))
    space = f" ({format_count(files, 'file', grouped=True)}, {size})"
    failed_jobs = format_count(chain.failed_jobs, "job", grouped=True)
    return (
        f"{chain.template} over {chain.dataset_name}: {failed_jobs}"
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
        jobs = format_count(task.quarantined, "job", grouped=True)
        text = (
            f"{name}: {jobs} took several pilots down and"
            f" {conjugate(task.quarantined, 'wait')} for a decision{_first_job(task)}"
        )
        return [error_notice(text, since=task.created_at, task_uid=task.uid)]
    errors = ", ".join(
        f"{number} × {kind.value.replace('_', ' ')}" for kind, number in task.errors.items()
    )
    text = (
        f"{name}: {format_count(task.failed, 'job', grouped=True)} failed permanently"
        f"{f' ({errors})' if errors else ''}{_first_job(task)}"
    )
    return [warning_notice(text, since=task.created_at, task_uid=task.uid)]


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
        text = (
            f"{task.template}{over}, step {task.step}: {describe_waiting_jobs(task.ready)},"
            f" and {task.reason}"
        )
        notices.append(error_notice(text, task_uid=task.uid))
    return notices
