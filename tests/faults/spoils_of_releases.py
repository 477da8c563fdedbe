"""Corruptions of a good final state that concern releases of intermediate files."""

from datetime import timedelta

from sluice.contracts.common.states import JobState
from tests.faults.checker.snapshot import Row, Snapshot
from tests.faults.spoils import Spoil, intermediate, output


def _released(state: Snapshot) -> Row:
    return next(row for row in state.rows("dms", "dataset_files") if row["released_at"] is not None)


def released_before_it_was_read(state: Snapshot) -> None:
    _released(state)["released_at"] -= timedelta(hours=1)


def released_though_its_job_failed(state: Snapshot) -> None:
    released = _released(state)
    for job in state.rows("wms", "jobs"):
        if any(file["url"].endswith(f"/{released['name']}") for file in job["inputs"]):
            job["state"] = JobState.FAILED


def output_file_released(state: Snapshot) -> None:
    own = output(state)
    member = state.first("dms", "dataset_files", dataset_uid=own["uid"])
    member["released_at"] = own["uploaded_at"]


def released_miscounted(state: Snapshot) -> None:
    intermediate(state)["released"] += 1


def removal_left(state: Snapshot) -> None:
    state.rows("dms", "removals").append({"file_id": 1})


def read_left(state: Snapshot) -> None:
    state.rows("dms", "file_reads").append({"seq": 1})


def downstream_counts_left(state: Snapshot) -> None:
    state.rows("wms", "downstream_counts").append({"task_uid": None})


#: Check → corruptions that it must find.
RELEASE_SPOILS: dict[str, list[Spoil]] = {
    "files released after reading": [
        released_before_it_was_read,
        released_though_its_job_failed,
        output_file_released,
    ],
    "counts of released": [released_miscounted],
    "releases done": [removal_left, read_left, downstream_counts_left],
}
