"""Corruptions of a good final state that concern releases of intermediate files."""

from datetime import timedelta

from sluice.contracts.common.states import JobState
from tests.faults.checker.snapshot import Row, Snapshot
from tests.faults.corruptions.corruptions import Corruption, find_intermediate_dataset, get_output


def _find_released_file(state: Snapshot) -> Row:
    return next(row for row in state.rows("dms", "dataset_files") if row["released_at"] is not None)


def release_before_read(state: Snapshot) -> None:
    _find_released_file(state)["released_at"] -= timedelta(hours=1)


def fail_job_of_released_file(state: Snapshot) -> None:
    released = _find_released_file(state)
    for job in state.rows("wms", "jobs"):
        if any(file["url"].endswith(f"/{released['name']}") for file in job["inputs"]):
            job["state"] = JobState.FAILED


def release_output_file(state: Snapshot) -> None:
    own = get_output(state)
    member = state.row("dms", "dataset_files", dataset_uid=own["uid"])
    member["released_at"] = own["uploaded_at"]


def miscount_released_files(state: Snapshot) -> None:
    find_intermediate_dataset(state)["released"] += 1


def leave_removal(state: Snapshot) -> None:
    state.rows("dms", "removals").append({"file_id": 1})


def leave_file_read(state: Snapshot) -> None:
    state.rows("dms", "file_reads").append({"seq": 1})


def leave_downstream_counts(state: Snapshot) -> None:
    state.rows("wms", "downstream_counts").append({"task_uid": None})


#: Check → corruptions that it must find.
RELEASE_CORRUPTIONS: dict[str, list[Corruption]] = {
    "files released after reading": [
        release_before_read,
        fail_job_of_released_file,
        release_output_file,
    ],
    "counts of released": [miscount_released_files],
    "releases done": [leave_removal, leave_file_read, leave_downstream_counts],
}
