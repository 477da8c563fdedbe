"""Notices of unmatched data sets, stalled transfers and full storages."""

from collections.abc import Iterable, Sequence

from sluice.contracts.chains.attention import Notice
from sluice.contracts.chains.intake import Tie
from sluice.contracts.common.labels import find_chain_uid, label
from sluice.contracts.common.numbers import conjugate, format_count, size_text
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import StalledGroup, Storage
from sluice.contracts.data.storage_space import StorageWait
from wfms.operator.monitoring.domain.notices import (
    describe_waiting_jobs,
    error_notice,
    warning_notice,
)


def report_intake(unmatched_count: int, ties: Sequence[Tie]) -> list[Notice]:
    """Return notices of unmatched data sets and of ties between templates."""
    notices = []
    if unmatched_count:
        text = (
            f"{format_count(unmatched_count, 'data set', grouped=True)}"
            f" {conjugate(unmatched_count, 'fit')} no template: nothing processes"
            f" {'it' if unmatched_count == 1 else 'them'}"
        )
        notices.append(warning_notice(text, page="unmatched", is_count=True))
    for tie in ties:
        text = (
            f"Templates {tie.template} and {tie.other} have the same priority and match the same"
            f" data sets: {tie.template} gets them"
        )
        notices.append(warning_notice(text, page="unmatched"))
    return notices


def report_stalled_transfers(stalled_groups: Iterable[StalledGroup]) -> list[Notice]:
    """Return a notice for each reason why uploads and deletions do not continue."""
    notices = []
    for stalled in stalled_groups:
        action = "upload" if stalled.state is DatasetState.UPLOADING else "deletion"
        single = stalled.number == 1
        subject = (
            f"data set {label(stalled.first)}"
            if single
            else format_count(stalled.number, "data set", grouped=True)
        )
        text = f"The {action} of {subject} does not continue: {stalled.reason}"
        if stalled.halted:
            text += (
                f" (it waits for `sluice dataset resume {stalled.first.uid}`)"
                if single
                else " (`sluice dataset resume`)"
            )
        create_notice = error_notice if stalled.halted else warning_notice
        chain = find_chain_uid(stalled.first) if single else None
        notices.append(
            create_notice(
                text,
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
            jobs = describe_waiting_jobs(wait.jobs)
            text += f"{_missing_text(wait)}: {jobs} for space. Free space there: they continue"
            text += " automatically"
        since = None if wait is None else wait.since
        notices.append(error_notice(text, since=since, page="storages"))
    return notices


def _tried_text(name: str, wait: StorageWait) -> str:
    """Say that a storage has space for at least one job again, and how its jobs are tried."""
    jobs = describe_waiting_jobs(wait.jobs)
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
