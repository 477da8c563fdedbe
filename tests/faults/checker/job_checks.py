"""Each job was done once by one winning attempt, with at most two leases at a time."""

from collections import Counter
from collections.abc import Iterator

from tests.faults.checker.view import StepView, View, list_job_inputs, list_stored_inputs

_JOB_STATES = (
    "ready",
    "leased",
    "running",
    "finished",
    "failed",
    "canceled",
    "quarantined",
    "asked",
)
#: Outcome of an attempt if a duplicate attempt was faster.
_SUPERSEDED = "canceled"
#: Error class and message of an attempt whose input file was missing or wrong.
_INPUT_GONE = "checksum_mismatch"
_GONE_SENTENCE = "is no longer there"
_NO_SPACE = "no_space"
#: Maximal number of attempts of a job that found no free space; storages are filled three times.
_MAX_WITHOUT_SPACE = 8


def check_counts_of_tasks(view: View) -> Iterator[str]:
    """Require that the counts of a task equal those of its jobs, and add up (invariant 5)."""
    jobs: dict[object, Counter[str]] = {}
    for job in view.state.rows("wms", "jobs"):
        jobs.setdefault(job["task_uid"], Counter())[job["state"]] += 1
    for task in view.state.rows("wms", "tasks"):
        counted = jobs.get(task["uid"], Counter())
        stated = {state: task[state] for state in _JOB_STATES}
        if any(counted[state] != number for state, number in stated.items()) or task[
            "total"
        ] != sum(stated.values()):
            yield (
                f"task {task['uid']} ({task['step']}) says {stated} of {task['total']}; its jobs"
                f" are {dict(counted)}"
            )


def check_tasks_finished(view: View) -> Iterator[str]:
    for run, step in view.steps():
        where, failed = (
            f"{run.expected.dataset}: {step.step.name}",
            run.expected.failed_jobs(step.step),
        )
        total = run.expected.count_jobs(step.step)
        if step.task["state"] != "finished":
            yield f"{where}: the task is {step.task['state']}: {step.task['reason']}"
        if (step.task["total"], step.task["failed"], step.task["finished"]) != (
            total,
            failed,
            total - failed,
        ):
            yield (
                f"{where}: {step.task['finished']} of {step.task['total']} jobs finished; expected"
                f" {total - failed} of {total}"
            )


def check_jobs_cover_input(view: View) -> Iterator[str]:
    """Require that every input file is in exactly one job, in order (invariant 8)."""
    for run, step in view.steps():
        names = [name for job in step.jobs for name in list_stored_inputs(job)]
        files = view.files(step.input)
        if names != [file.name for file in files]:
            yield (
                f"{run.expected.dataset}: the jobs of {step.step.name} do not have each file of"
                " their input once, in order"
            )
        if step.step.group is None and [job["seq"] for job in step.jobs] != [
            file.seq for file in files
        ]:
            yield (
                f"{run.expected.dataset}: jobs of {step.step.name} do not bear the numbers of their"
                " files"
            )


def check_failures_expected(view: View) -> Iterator[str]:
    """Require that exactly the jobs with invalid input failed."""
    for run, step in view.steps():
        for job in step.jobs:
            refused = (
                step.step.source == "input"
                and set(list_job_inputs(job)) <= run.expected.invalid_files
            )
            if job["state"] != ("failed" if refused else "finished"):
                yield (
                    f"{run.expected.dataset}: job {job['id']} of {step.step.name} is"
                    f" {job['state']}: {job['message']}"
                )


def check_one_winner(view: View) -> Iterator[str]:
    """Invariant 3: a finished job has one successful attempt.

    Later attempts only began beside it, and every attempt is stored.
    """
    for run, step in view.steps():
        for job in step.jobs:
            attempts = step.attempts[job["id"]]
            where = f"{run.expected.dataset}: job {job['id']} of {step.step.name}"
            numbers = [row["attempt"] for row in attempts]
            winning_rows = [row for row in attempts if row["outcome"] == "finished"]
            over = max((row["ended_at"] for row in winning_rows), default=None)
            later_rows = [
                row
                for row in attempts
                if row["attempt"] > job["attempt"]
                and (
                    row["outcome"] == _SUPERSEDED or (over is not None and row["leased_at"] < over)
                )
            ]
            if numbers != list(range(1, job["attempt"] + len(later_rows) + 1)):
                yield f"{where} has attempts {numbers}, and counts {job['attempt']}"
            winners = [row["attempt"] for row in winning_rows]
            if winners != ([job["attempt"]] if job["state"] == "finished" else []):
                yield f"{where} is {job['state']} and was won by attempts {winners}"
    job_ids = {job["id"] for job in view.state.rows("wms", "jobs")}
    for job_id in view.attempts.keys() - job_ids:
        yield f"attempts at job {job_id}, which does not exist"


def check_leases_do_not_overlap(view: View) -> Iterator[str]:
    """Require that a job is leased again only after its former leases ended (invariant 6).

    A duplicate attempt on another pilot is the exception. Times are those of the database.
    """
    for run, step in view.steps():
        for attempts in step.attempts.values():
            for number, row in enumerate(attempts):
                overlapping = [
                    one for one in attempts[:number] if one["ended_at"] > row["leased_at"]
                ]
                where = f"{run.expected.dataset}: job {row['job_id']} of {step.step.name}"
                if len(overlapping) > 1:
                    yield f"{where} had three leases at a time"
                elif overlapping and overlapping[0]["pilot"] == row["pilot"]:
                    yield f"{where} had two leases of one pilot at a time"
            for row in attempts:
                if (
                    not row["leased_at"]
                    <= (row["started_at"] or row["ended_at"])
                    <= row["ended_at"]
                ):
                    yield (
                        f"{run.expected.dataset}: attempt {row['attempt']} at job {row['job_id']}"
                        " has times out of order"
                    )


def check_inputs_existed(view: View) -> Iterator[str]:
    """Require that no attempt missed an input file or found a different one (invariant 4)."""
    for row in view.state.rows("wms", "attempts"):
        if row["error_class"] == _INPUT_GONE or _GONE_SENTENCE in row["message"]:
            yield f"attempt {row['attempt']} at job {row['job_id']}: {row['message']}"


def map_winning_attempts(step: StepView) -> dict[int, int]:
    """Map each finished job to its successful attempt."""
    return {job["id"]: job["attempt"] for job in step.jobs if job["state"] == "finished"}


def check_attempts_without_space_bounded(view: View) -> Iterator[str]:
    """Require that jobs wait while storages are full, instead of failing again and again."""
    attempts = Counter(
        row["job_id"]
        for row in view.state.rows("wms", "attempts")
        if row["error_class"] == _NO_SPACE
    )
    for job, number in attempts.items():
        if number > _MAX_WITHOUT_SPACE:
            yield f"job {job} found no space {number} times"
