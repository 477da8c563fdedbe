"""Chains, steps and watches have ended correctly, and exactly the unneeded data were released."""

from collections.abc import Iterator
from typing import Any

from tests.faults.checker.snapshot import Row
from tests.faults.checker.view import RunView, View

#: States of data sets in the catalogue.
DELETED, CLOSED, UPLOADED = "deleted", "closed", "uploaded"


def check_all_inputs_processed(view: View) -> Iterator[str]:
    """Require one chain for each data set, and no other chain (invariant 1)."""
    complete = len(view.runs)
    yield from view.missing
    chains = view.state.rows("chains", "chains")
    if not view.missing and len(chains) != complete:
        yield f"there are {len(chains)} chains for {complete} data sets"
    steps = sum(len(run.expected.pipeline.steps) for run in view.runs)
    for what, rows in (
        ("steps", view.state.rows("chains", "steps")),
        ("tasks", view.state.rows("wms", "tasks")),
    ):
        if not view.missing and len(rows) != steps:
            yield f"there are {len(rows)} {what}, not {steps}"


def check_chains_finished(view: View) -> Iterator[str]:
    for run in view.runs:
        if run.chain["state"] != "finished" or run.chain["ended_at"] is None:
            yield f"chain of {run.expected.dataset} is {run.chain['state']}: {run.chain['reason']}"
        for step in run.steps.values():
            if step.row["state"] != "finished" or step.row["ended_at"] is None:
                yield (
                    f"{run.expected.dataset}: step {step.step.name} is {step.row['state']}:"
                    f" {step.row['reason']}"
                )
            refused = run.expected.failed_jobs(step.step)
            if step.row["failed_jobs"] != refused:
                yield (
                    f"{run.expected.dataset}: step {step.step.name} counts"
                    f" {step.row['failed_jobs']} failed jobs, not {refused}"
                )


def check_watches_reported(view: View) -> Iterator[str]:
    expected: set[Any] = set()
    for run in view.runs:
        expected |= {step.task["uid"] for step in run.steps.values()}
        expected |= {row["uid"] for row in _list_outputs(run)}
    watches = {row["uid"]: row for row in view.state.rows("watcher", "watches")}
    for uid in expected ^ watches.keys():
        yield f"watch {uid} is {'missing' if uid in expected else 'of nothing that was expected'}"
    for uid, watch in watches.items():
        if watch["state"] != "finished" or not watch["reported"]:
            yield (
                f"watch {uid} of a {watch['kind']} is {watch['state']},"
                f" {'reported' if watch['reported'] else 'not reported'}"
            )


def check_released(view: View) -> Iterator[str]:
    """Require that chains, watcher and DMS agree on the released data sets, each once."""
    released: set[Any] = set()
    for run in view.runs:
        for name, dataset, state in _list_expected_states(run):
            if dataset["state"] != state:
                yield (
                    f"{run.expected.dataset}: data set {name} is {dataset['state']} in the"
                    f" catalogue, not {state}"
                )
            if state == DELETED:
                released.add(dataset["uid"])
    records = {
        "the chains": [
            r["uid"]
            for r in view.state.rows("chains", "datasets")
            if r["released_at"] and r["handed_over_at"]
        ],
        "the watcher": [row["dataset_uid"] for row in view.state.rows("watcher", "releases")],
    }
    for who, uids in records.items():
        for uid in released ^ set(uids):
            yield (
                f"{who}: data set {uid} was"
                f" {'not released' if uid in released else 'released though it is kept'}"
            )
        if len(uids) != len(set(uids)):
            yield f"{who}: a data set was released twice"
    for row in view.state.rows("chains", "datasets"):
        if (row["released_at"] is None) != (row["handed_over_at"] is None):
            yield f"data set {row['name']} was released and not handed over"


def check_uploaded(view: View) -> Iterator[str]:
    for row in view.state.rows("dms", "datasets"):
        if row["type"] == "output" and row["state"] != UPLOADED:
            yield f"output {row['name']} is {row['state']}"
        if (
            row["claim_token"] is not None
            or row["halted_at"] is not None
            or row["late_files"]
            or row["sweep_at"] is not None
        ):
            yield (
                f"data set {row['name']} is not done with:"
                f" {row['reason'] or 'in hand, or to be swept'}"
            )


def _list_outputs(run: RunView) -> list[Row]:
    return [
        run.steps[step].outputs[port]
        for step, port in (output.split("/") for output in run.expected.pipeline.outputs)
    ]


def _list_expected_states(run: RunView) -> Iterator[tuple[str, Row, str]]:
    """Yield the final states by the release rule.

    The first input and intermediate data are deleted. Outputs, logs of their steps, and logs of
    steps with failed jobs are kept.
    """
    outputs = run.expected.pipeline.outputs
    yield "input", run.dataset, DELETED
    for step in run.steps.values():
        name = step.step.name
        for port, dataset in step.outputs.items():
            yield f"{name}/{port}", dataset, UPLOADED if f"{name}/{port}" in outputs else DELETED
        is_kept = run.expected.failed_jobs(step.step) or any(
            output.startswith(f"{name}/") for output in outputs
        )
        yield f"{name}'s logs", step.logs, CLOSED if is_kept else DELETED
