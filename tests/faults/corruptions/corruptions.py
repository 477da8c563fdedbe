"""Corruptions of a good final state, by the check that must find them.

They change rows in a copy of the tables.
"""

from collections.abc import Callable
from datetime import timedelta

from sluice.contracts.common.states import (
    ChainState,
    DatasetState,
    DatasetType,
    JobState,
    ReplicaState,
    StepState,
    TaskState,
)
from tests.faults.checker.snapshot import Row, Snapshot
from tests.faults.corruptions.attempt_corruptions import (
    add_attempt_after_winner,
    add_attempt_without_job,
    add_attempts_without_space,
    add_second_winner,
    end_attempt_before_its_start,
    lease_three_times_at_once,
    lease_twice_to_one_pilot,
    report_checksum_mismatch,
    report_missing_input,
)
from tests.faults.corruptions.limit_corruptions import (
    delete_limit,
    delete_limited_attempts,
    exceed_limit,
    return_quota_twice,
    spend_quota_twice,
)

Corruption = Callable[[Snapshot], None]


def get_output(state: Snapshot) -> Row:
    return state.row("dms", "datasets", type="output")


def get_merged_output(state: Snapshot) -> Row:
    """Return the only kind of output whose files name the numbers of their inputs."""
    return next(
        row for row in state.rows("dms", "datasets") if row["name"].endswith(".merge.merged")
    )


def find_file(state: Snapshot, dataset: Row) -> Row:
    """Return the row of a file of a data set."""
    member = state.row("dms", "dataset_files", dataset_uid=dataset["uid"])
    return state.row("dms", "files", id=member["file_id"])


def find_intermediate_dataset(state: Snapshot) -> Row:
    return next(
        row
        for row in state.rows("dms", "datasets")
        if row["type"] == DatasetType.INTERMEDIATE and row["state"] == DatasetState.DELETED
    )


def add_unsent_message(state: Snapshot) -> None:
    state.rows("wms", "outbox").append(
        {"id": 1, "message_id": "m", "destination": "dms.files", "body": b"{}"}
    )


def add_unsent_event(state: Snapshot) -> None:
    state.rows("dms", "outbox").append(
        {"id": 1, "message_id": "m", "destination": "dms.dataset-closed", "sent_at": None}
    )


def leave_queued_message(state: Snapshot) -> None:
    state.queues["wms.tasks"] = 1


def add_dead_letter(state: Snapshot) -> None:
    state.queues["dms.files.dead"] = 1


def leave_handover(state: Snapshot) -> None:
    state.rows("intake", "handovers").append(
        {"dataset_uid": "d", "reason": "the chains do not answer"}
    )


def add_unmatched_dataset(state: Snapshot) -> None:
    state.rows("intake", "unmatched").append({"dataset_name": "d", "reason": "no template"})


def duplicate_chain(state: Snapshot) -> None:
    chains = state.rows("chains", "chains")
    chains.append(chains[0] | {"uid": "another"})


def delete_chain(state: Snapshot) -> None:
    state.rows("chains", "chains").pop()


def rename_input(state: Snapshot) -> None:
    state.row("dms", "datasets", type="input")["name"] = "another"


def delete_task(state: Snapshot) -> None:
    state.rows("wms", "tasks").pop()


def duplicate_task(state: Snapshot) -> None:
    tasks = state.rows("wms", "tasks")
    tasks.append(tasks[0] | {"uid": "another"})


def reopen_chain(state: Snapshot) -> None:
    state.rows("chains", "chains")[0]["state"] = ChainState.UPLOADING


def fail_step(state: Snapshot) -> None:
    state.rows("chains", "steps")[0]["state"] = StepState.FAILED


def reset_failed_jobs(state: Snapshot) -> None:
    next(row for row in state.rows("chains", "steps") if row["failed_jobs"])["failed_jobs"] = 0


def delete_watch(state: Snapshot) -> None:
    state.rows("watcher", "watches").pop()


def mark_watch_unreported(state: Snapshot) -> None:
    state.rows("watcher", "watches")[0]["reported"] = False


def undelete_input(state: Snapshot) -> None:
    state.row("dms", "datasets", type="input")["state"] = DatasetState.CLOSED


def delete_release(state: Snapshot) -> None:
    state.rows("watcher", "releases").pop()


def duplicate_release(state: Snapshot) -> None:
    releases = state.rows("watcher", "releases")
    releases.append(releases[0])


def release_output(state: Snapshot) -> None:
    state.rows("watcher", "releases").append(
        {"dataset_uid": get_output(state)["uid"], "sent_at": None}
    )


def clear_handover_time(state: Snapshot) -> None:
    next(row for row in state.rows("chains", "datasets") if row["handed_over_at"])[
        "handed_over_at"
    ] = None


def mark_output_uploading(state: Snapshot) -> None:
    get_output(state)["state"] = DatasetState.UPLOADING


def claim_dataset(state: Snapshot) -> None:
    get_output(state)["claim_token"] = "somebody"


def miscount_task(state: Snapshot) -> None:
    task = state.rows("wms", "tasks")[0]
    task["finished"] += 1
    task["total"] += 1


def delete_job(state: Snapshot) -> None:
    state.rows("wms", "jobs").pop()


def fail_task(state: Snapshot) -> None:
    state.rows("wms", "tasks")[0]["state"] = TaskState.FAILED


def skip_job_input(state: Snapshot) -> None:
    job = next(row for row in state.rows("wms", "jobs") if len(row["inputs"]) > 1)
    job["inputs"] = job["inputs"][1:]


def share_input_between_jobs(state: Snapshot) -> None:
    single = [row for row in state.rows("wms", "jobs") if len(row["inputs"]) == 1]
    single[1]["inputs"] = single[0]["inputs"]


def renumber_job(state: Snapshot) -> None:
    single = [row for row in state.rows("wms", "jobs") if len(row["inputs"]) == 1]
    single[-1]["seq"] += 1


def accept_refused_input(state: Snapshot) -> None:
    next(row for row in state.rows("wms", "jobs") if row["state"] == JobState.FAILED)["state"] = (
        JobState.FINISHED
    )


def fail_good_job(state: Snapshot) -> None:
    next(row for row in state.rows("wms", "jobs") if row["state"] == JobState.FINISHED)["state"] = (
        JobState.FAILED
    )


def duplicate_output_file(state: Snapshot) -> None:
    members = state.rows("dms", "dataset_files")
    own = state.row("dms", "dataset_files", dataset_uid=find_intermediate_dataset(state)["uid"])
    members.append(own | {"name": f"{own['name']}.again"})


def delete_output_file(state: Snapshot) -> None:
    members = state.rows("dms", "dataset_files")
    members.remove(state.row("dms", "dataset_files", dataset_uid=get_output(state)["uid"]))


def attribute_output_to_lost_attempt(state: Snapshot) -> None:
    file = find_file(state, get_output(state))
    file["origin"] = file["origin"] | {"attempt": file["origin"]["attempt"] + 1}


def renumber_output_file(state: Snapshot) -> None:
    dataset = find_intermediate_dataset(state)
    state.row("dms", "dataset_files", dataset_uid=dataset["uid"])["seq"] = 99


def delete_log(state: Snapshot) -> None:
    logs = {row["uid"] for row in state.rows("dms", "datasets") if row["type"] == "logs"}
    members = state.rows("dms", "dataset_files")
    members.remove(next(row for row in members if row["dataset_uid"] in logs))


def miscount_files(state: Snapshot) -> None:
    find_intermediate_dataset(state)["count_files"] += 1


def miscount_bytes(state: Snapshot) -> None:
    get_output(state)["bytes"] += 1


def change_close_count(state: Snapshot) -> None:
    get_output(state)["close_at"] += 1


def miscount_storage_usage(state: Snapshot) -> None:
    state.rows("dms", "storage_usage")[0]["bytes"] += 1


def miscount_runs(state: Snapshot) -> None:
    state.rows("dms", "periods")[0]["runs"] += 1


def corrupt_joined_checksum(state: Snapshot) -> None:
    own = next(row for row in state.rows("dms", "datasets") if row["name"].endswith(".join.joined"))
    find_file(state, own)["checksum"] = bytes(32)


def rename_merged_file(state: Snapshot) -> None:
    state.row("dms", "dataset_files", dataset_uid=get_merged_output(state)["uid"])["name"] = (
        "00000000.1-another.root"
    )


def corrupt_input_checksum(state: Snapshot) -> None:
    find_file(state, state.row("dms", "datasets", type="input"))["checksum"] = bytes(32)


def reverse_merge_order(state: Snapshot) -> None:
    own = next(row for row in state.rows("dms", "datasets") if row["name"].endswith(".join.joined"))
    file = find_file(state, own)
    file["origin"] = file["origin"] | {"inputs": file["origin"]["inputs"][::-1]}


def corrupt_merged_range(state: Snapshot) -> None:
    file = find_file(state, get_merged_output(state))
    file["meta"] = file["meta"] | {"last_seq": 1000}


def mark_replica_deleted(state: Snapshot) -> None:
    available = next(
        row for row in state.rows("dms", "replicas") if row["state"] == ReplicaState.AVAILABLE
    )
    available["state"] = ReplicaState.DELETED


def restore_deleted_replica(state: Snapshot) -> None:
    next(row for row in state.rows("dms", "replicas") if row["state"] == ReplicaState.DELETED)[
        "state"
    ] = ReplicaState.AVAILABLE


def delete_before_read(state: Snapshot) -> None:
    row = find_intermediate_dataset(state)
    row["deleted_at"] = row["registered_at"]


def delete_input_before_upload(state: Snapshot) -> None:
    row = state.row("dms", "datasets", type="input")
    uploads = [one["uploaded_at"] for one in state.rows("dms", "datasets") if one["uploaded_at"]]
    row["deleted_at"] = min(uploads) - timedelta(seconds=1)


def leave_process(state: Snapshot) -> None:
    state.processes[1] = "python3 -c"


#: Check → corruptions that it must find.
CORRUPTIONS: dict[str, list[Corruption]] = {
    "outboxes empty": [add_unsent_message, add_unsent_event],
    "queues empty": [leave_queued_message],
    "dead letters empty": [add_dead_letter],
    "intake done": [leave_handover, add_unmatched_dataset],
    "all inputs processed": [
        duplicate_chain,
        delete_chain,
        rename_input,
        delete_task,
        duplicate_task,
    ],
    "chains finished": [reopen_chain, fail_step, reset_failed_jobs],
    "watches reported": [delete_watch, mark_watch_unreported],
    "released": [
        undelete_input,
        delete_release,
        duplicate_release,
        release_output,
        clear_handover_time,
    ],
    "uploaded": [mark_output_uploading, claim_dataset],
    "counts of tasks": [miscount_task, delete_job],
    "tasks finished": [fail_task, miscount_task],
    "jobs cover input": [skip_job_input, share_input_between_jobs, renumber_job],
    "failures expected": [accept_refused_input, fail_good_job],
    "one winner": [add_second_winner, add_attempt_after_winner, add_attempt_without_job],
    "leases do not overlap": [
        lease_twice_to_one_pilot,
        lease_three_times_at_once,
        end_attempt_before_its_start,
    ],
    "inputs existed": [report_missing_input, report_checksum_mismatch],
    "attempts without space bounded": [add_attempts_without_space],
    "limits respected": [exceed_limit, delete_limited_attempts],
    "quotas spent": [spend_quota_twice, return_quota_twice, delete_limit],
    "no process left": [leave_process],
    "outputs once": [
        duplicate_output_file,
        delete_output_file,
        attribute_output_to_lost_attempt,
        renumber_output_file,
    ],
    "logs once": [delete_log],
    "counts of datasets": [miscount_files, miscount_bytes, change_close_count],
    "counts of storages": [miscount_storage_usage, miscount_runs],
    "expected outputs": [
        corrupt_joined_checksum,
        rename_merged_file,
        corrupt_input_checksum,
        delete_output_file,
    ],
    "file order": [renumber_output_file, reverse_merge_order, corrupt_merged_range],
    "readable datasets complete": [mark_replica_deleted, restore_deleted_replica],
    "nothing deleted early": [delete_before_read, delete_input_before_upload],
}
