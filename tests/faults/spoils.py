"""Corruptions of a good final state, by the check that must find them.

They change rows in a copy of the tables.
"""

from collections.abc import Callable
from datetime import timedelta

from sluice.contracts.common.states import (
    AttemptOutcome,
    ChainState,
    DatasetState,
    DatasetType,
    JobState,
    ReplicaState,
    StepState,
    TaskState,
)
from tests.faults.checker.snapshot import Row, Snapshot
from tests.faults.spoils_of_attempts import (
    an_attempt_behind_the_winner,
    an_attempt_stopped_before_its_start,
    attempt_ends_before_it_starts,
    attempt_of_nothing,
    input_was_another,
    input_was_gone,
    three_leases_at_once,
    too_many_attempts_without_space,
    two_leases_of_one_pilot,
    two_winners,
)

Spoil = Callable[[Snapshot], None]


def output(state: Snapshot) -> Row:
    return state.first("dms", "datasets", type="output")


def merged(state: Snapshot) -> Row:
    """Return the only kind of output whose files name the numbers of their inputs."""
    return next(
        row for row in state.rows("dms", "datasets") if row["name"].endswith(".merge.merged")
    )


def file_of(state: Snapshot, dataset: Row) -> Row:
    """Return the row of a file of a data set."""
    member = state.first("dms", "dataset_files", dataset_uid=dataset["uid"])
    return state.first("dms", "files", id=member["file_id"])


def intermediate(state: Snapshot) -> Row:
    return next(
        row
        for row in state.rows("dms", "datasets")
        if row["type"] == DatasetType.INTERMEDIATE and row["state"] == DatasetState.DELETED
    )


def message_waits(state: Snapshot) -> None:
    state.rows("wms", "outbox").append(
        {"id": 1, "message_id": "m", "destination": "dms.files", "body": b"{}"}
    )


def message_kept_waits(state: Snapshot) -> None:
    state.rows("dms", "outbox").append(
        {"id": 1, "message_id": "m", "destination": "dms.dataset-closed", "sent_at": None}
    )


def message_left(state: Snapshot) -> None:
    state.queues["wms.tasks"] = 1


def letter_dead(state: Snapshot) -> None:
    state.queues["dms.files.dead"] = 1


def handover_left(state: Snapshot) -> None:
    state.rows("intake", "handovers").append(
        {"dataset_uid": "d", "reason": "the chains do not answer"}
    )


def unmatched(state: Snapshot) -> None:
    state.rows("intake", "unmatched").append({"dataset_name": "d", "reason": "no template"})


def chain_doubled(state: Snapshot) -> None:
    chains = state.rows("chains", "chains")
    chains.append(chains[0] | {"uid": "another"})


def chain_missing(state: Snapshot) -> None:
    state.rows("chains", "chains").pop()


def input_unknown(state: Snapshot) -> None:
    state.first("dms", "datasets", type="input")["name"] = "another"


def task_missing(state: Snapshot) -> None:
    state.rows("wms", "tasks").pop()


def task_doubled(state: Snapshot) -> None:
    tasks = state.rows("wms", "tasks")
    tasks.append(tasks[0] | {"uid": "another"})


def chain_unfinished(state: Snapshot) -> None:
    state.rows("chains", "chains")[0]["state"] = ChainState.UPLOADING


def step_failed(state: Snapshot) -> None:
    state.rows("chains", "steps")[0]["state"] = StepState.FAILED


def failed_jobs_uncounted(state: Snapshot) -> None:
    next(row for row in state.rows("chains", "steps") if row["failed_jobs"])["failed_jobs"] = 0


def watch_missing(state: Snapshot) -> None:
    state.rows("watcher", "watches").pop()


def watch_unreported(state: Snapshot) -> None:
    state.rows("watcher", "watches")[0]["reported"] = False


def input_kept(state: Snapshot) -> None:
    state.first("dms", "datasets", type="input")["state"] = DatasetState.CLOSED


def release_forgotten(state: Snapshot) -> None:
    state.rows("watcher", "releases").pop()


def release_doubled(state: Snapshot) -> None:
    releases = state.rows("watcher", "releases")
    releases.append(releases[0])


def output_released(state: Snapshot) -> None:
    state.rows("watcher", "releases").append({"dataset_uid": output(state)["uid"], "sent_at": None})


def release_not_handed_over(state: Snapshot) -> None:
    next(row for row in state.rows("chains", "datasets") if row["handed_over_at"])[
        "handed_over_at"
    ] = None


def output_uploading(state: Snapshot) -> None:
    output(state)["state"] = DatasetState.UPLOADING


def dataset_in_hand(state: Snapshot) -> None:
    output(state)["claim_token"] = "somebody"


def task_miscounts(state: Snapshot) -> None:
    task = state.rows("wms", "tasks")[0]
    task["finished"] += 1
    task["total"] += 1


def job_lost(state: Snapshot) -> None:
    state.rows("wms", "jobs").pop()


def task_failed(state: Snapshot) -> None:
    state.rows("wms", "tasks")[0]["state"] = TaskState.FAILED


def input_skipped(state: Snapshot) -> None:
    job = next(row for row in state.rows("wms", "jobs") if len(row["inputs"]) > 1)
    job["inputs"] = job["inputs"][1:]


def input_in_two_jobs(state: Snapshot) -> None:
    single = [row for row in state.rows("wms", "jobs") if len(row["inputs"]) == 1]
    single[1]["inputs"] = single[0]["inputs"]


def jobs_renumbered(state: Snapshot) -> None:
    single = [row for row in state.rows("wms", "jobs") if len(row["inputs"]) == 1]
    single[-1]["seq"] += 1


def refused_input_accepted(state: Snapshot) -> None:
    next(row for row in state.rows("wms", "jobs") if row["state"] == JobState.FAILED)["state"] = (
        JobState.FINISHED
    )


def good_job_failed(state: Snapshot) -> None:
    next(row for row in state.rows("wms", "jobs") if row["state"] == JobState.FINISHED)["state"] = (
        JobState.FAILED
    )


def output_doubled(state: Snapshot) -> None:
    members = state.rows("dms", "dataset_files")
    own = state.first("dms", "dataset_files", dataset_uid=intermediate(state)["uid"])
    members.append(own | {"name": f"{own['name']}.again"})


def output_lost(state: Snapshot) -> None:
    members = state.rows("dms", "dataset_files")
    members.remove(state.first("dms", "dataset_files", dataset_uid=output(state)["uid"]))


def output_of_a_loser(state: Snapshot) -> None:
    file = file_of(state, output(state))
    file["origin"] = file["origin"] | {"attempt": file["origin"]["attempt"] + 1}


def output_renumbered(state: Snapshot) -> None:
    state.first("dms", "dataset_files", dataset_uid=intermediate(state)["uid"])["seq"] = 99


def log_lost(state: Snapshot) -> None:
    logs = {row["uid"] for row in state.rows("dms", "datasets") if row["type"] == "logs"}
    members = state.rows("dms", "dataset_files")
    members.remove(next(row for row in members if row["dataset_uid"] in logs))


def files_miscounted(state: Snapshot) -> None:
    intermediate(state)["count_files"] += 1


def bytes_miscounted(state: Snapshot) -> None:
    output(state)["bytes"] += 1


def closed_at_another_count(state: Snapshot) -> None:
    output(state)["close_at"] += 1


def usage_miscounted(state: Snapshot) -> None:
    state.rows("dms", "storage_usage")[0]["bytes"] += 1


def runs_miscounted(state: Snapshot) -> None:
    state.rows("dms", "periods")[0]["runs"] += 1


def content_another(state: Snapshot) -> None:
    own = next(row for row in state.rows("dms", "datasets") if row["name"].endswith(".join.joined"))
    file_of(state, own)["checksum"] = bytes(32)


def name_another(state: Snapshot) -> None:
    state.first("dms", "dataset_files", dataset_uid=merged(state)["uid"])["name"] = (
        "00000000.1-another.root"
    )


def input_another(state: Snapshot) -> None:
    file_of(state, state.first("dms", "datasets", type="input"))["checksum"] = bytes(32)


def merged_out_of_order(state: Snapshot) -> None:
    own = next(row for row in state.rows("dms", "datasets") if row["name"].endswith(".join.joined"))
    file = file_of(state, own)
    file["origin"] = file["origin"] | {"inputs": file["origin"]["inputs"][::-1]}


def merged_range_wrong(state: Snapshot) -> None:
    file = file_of(state, merged(state))
    file["meta"] = file["meta"] | {"last_seq": 1000}


def copy_forgotten(state: Snapshot) -> None:
    available = next(
        row for row in state.rows("dms", "replicas") if row["state"] == ReplicaState.AVAILABLE
    )
    available["state"] = ReplicaState.DELETED


def copy_of_the_deleted(state: Snapshot) -> None:
    next(row for row in state.rows("dms", "replicas") if row["state"] == ReplicaState.DELETED)[
        "state"
    ] = ReplicaState.AVAILABLE


def deleted_before_read(state: Snapshot) -> None:
    row = intermediate(state)
    row["deleted_at"] = row["registered_at"]


def input_deleted_before_upload(state: Snapshot) -> None:
    row = state.first("dms", "datasets", type="input")
    uploads = [one["uploaded_at"] for one in state.rows("dms", "datasets") if one["uploaded_at"]]
    row["deleted_at"] = min(uploads) - timedelta(seconds=1)


def limit_exceeded(state: Snapshot) -> None:
    attempts = _entering(state)
    first_lease = min(row["leased_at"] for row in attempts)
    for row in attempts:
        row["leased_at"] = first_lease


def nothing_limited(state: Snapshot) -> None:
    own = {row["job_id"] for row in _entering(state)}
    rows = state.rows("wms", "attempts")
    rows[:] = [row for row in rows if row["job_id"] not in own]


def quota_spent_twice(state: Snapshot) -> None:
    state.first("wms", "limits", name="entries")["spent"] += 1


def limit_lost(state: Snapshot) -> None:
    state.rows("wms", "limits").remove(state.first("wms", "limits", name="register"))


def process_left(state: Snapshot) -> None:
    state.processes[1] = "python3 -c"


def entering_attempt_stopped(state: Snapshot) -> None:
    """Add an attempt of a limited step that its pilot stopped early, which is correct."""
    winner = next(row for row in _entering(state) if row["outcome"] == AttemptOutcome.FINISHED)
    an_attempt_stopped_before_its_start(state, winner)


def _entering(state: Snapshot) -> list[Row]:
    """Return attempts of jobs of the step that needs limited resources."""
    tasks = {row["uid"] for row in state.rows("wms", "tasks") if row["step"] == "enter"}
    jobs = {row["id"] for row in state.rows("wms", "jobs") if row["task_uid"] in tasks}
    return [row for row in state.rows("wms", "attempts") if row["job_id"] in jobs]


#: Check → corruptions that it must find.
SPOILS: dict[str, list[Spoil]] = {
    "outboxes empty": [message_waits, message_kept_waits],
    "queues empty": [message_left],
    "dead letters empty": [letter_dead],
    "intake done": [handover_left, unmatched],
    "everything carried": [chain_doubled, chain_missing, input_unknown, task_missing, task_doubled],
    "chains finished": [chain_unfinished, step_failed, failed_jobs_uncounted],
    "watches reported": [watch_missing, watch_unreported],
    "released": [
        input_kept,
        release_forgotten,
        release_doubled,
        output_released,
        release_not_handed_over,
    ],
    "uploaded": [output_uploading, dataset_in_hand],
    "counts of tasks": [task_miscounts, job_lost],
    "tasks finished": [task_failed, task_miscounts],
    "jobs cover input": [input_skipped, input_in_two_jobs, jobs_renumbered],
    "failures expected": [refused_input_accepted, good_job_failed],
    "one winner": [two_winners, an_attempt_behind_the_winner, attempt_of_nothing],
    "leases apart": [two_leases_of_one_pilot, three_leases_at_once, attempt_ends_before_it_starts],
    "inputs were there": [input_was_gone, input_was_another],
    "attempts without space bounded": [too_many_attempts_without_space],
    "limits kept": [limit_exceeded, nothing_limited],
    "quotas spent": [quota_spent_twice, limit_lost],
    "no process left": [process_left],
    "outputs once": [output_doubled, output_lost, output_of_a_loser, output_renumbered],
    "logs once": [log_lost],
    "counts of datasets": [files_miscounted, bytes_miscounted, closed_at_another_count],
    "counts of storages": [usage_miscounted, runs_miscounted],
    "expected outputs": [content_another, name_another, input_another, output_lost],
    "order kept": [output_renumbered, merged_out_of_order, merged_range_wrong],
    "readable datasets whole": [copy_forgotten, copy_of_the_deleted],
    "nothing deleted early": [deleted_before_read, input_deleted_before_upload],
}
