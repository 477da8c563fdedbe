"""Storages have exactly the files of the catalogue, and no file was deleted while it was needed."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from spd.report import read_events
from spd.truth import expected_events

from tests.faults.checker.view import RunView, View

#: States of a data set in which its files must be readable.
_READABLE = {"closed", "uploading", "uploaded"}


def check_files_intact(view: View) -> Iterator[str]:
    for path, row in view.catalogue.available(view.state):
        stored = view.state.files.get(path)
        if stored is None:
            yield f"{path} is in the catalogue and not on its storage"
        elif (stored.size, stored.sha256) != (row["size"], row["checksum"].hex()):
            yield (
                f"{path} has {stored.size} bytes, {stored.sha256[:12]}, not {row['size']},"
                f" {row['checksum'].hex()[:12]}"
            )


def check_no_dark_files(view: View) -> Iterator[str]:
    paths = {path for path, _ in view.catalogue.available(view.state)}
    for path in sorted(view.state.files.keys() - paths):
        yield f"{path} is on its storage and not in the catalogue"


def check_readable_datasets_complete(view: View) -> Iterator[str]:
    """Invariant 4: every unreleased file of a readable data set has exactly one replica.

    An uploaded file is on an output storage.
    """
    outputs = {
        view.catalogue.roots[row["id"]]
        for row in view.state.rows("dms", "storages")
        if row["type"] == "output"
    }
    for dataset in view.catalogue.datasets.values():
        for file in view.files(dataset):
            is_there = dataset["state"] in _READABLE and file.released_at is None
            if len(file.paths) != (1 if is_there else 0):
                yield (
                    f"data set {dataset['name']} is {dataset['state']}, and {file.name} has"
                    f" {len(file.paths)} copies"
                )
            elif dataset["state"] == "uploaded" and not any(
                file.paths[0].startswith(f"{root}/") for root in outputs
            ):
                yield f"{file.paths[0]} is uploaded and not on an output storage"


def check_nothing_deleted_early(view: View) -> Iterator[str]:
    """Invariant 4: inputs of a step are deleted after its task, the first input
    after all uploads.
    """
    for run in view.runs:
        outputs = [
            run.steps[step].outputs[port]["uploaded_at"] for step, port in _list_output_ports(run)
        ]
        safe: list[datetime] = [at for at in outputs if at is not None]
        for step in run.steps.values():
            deletion, ended = step.input["deleted_at"], step.task["ended_at"]
            if deletion is not None and (ended is None or deletion < ended):
                yield (
                    f"{run.expected.dataset}: {step.input['name']} was deleted at {deletion},"
                    f" {step.step.name} ended at {ended}"
                )
        deletion = run.dataset["deleted_at"]
        if deletion is not None and (len(safe) != len(outputs) or deletion < max(safe)):
            yield (
                f"{run.expected.dataset}: the input was deleted at {deletion}, before its output"
                " was safe"
            )


def check_events_complete(view: View) -> Iterator[str]:
    """Require that the merged files of a detector run have the events of the simulation."""
    for run in view.runs:
        if run.expected.true_events_path is None:
            continue
        files = [
            file
            for step, port in _list_output_ports(run)
            for file in view.files(run.steps[step].outputs[port])
        ]
        paths = [Path(place) for file in files for place in file.paths if place.endswith(".root")]
        merged_events = [path for path in paths if path.exists()]
        true = expected_events(run.expected.true_events_path)
        events = read_events(merged_events)
        if events != true or not true:
            yield (
                f"{run.expected.dataset}: {len(events)} events in {len(merged_events)} files;"
                f" {len(true)} are true, and they differ"
            )


def _list_output_ports(run: RunView) -> list[tuple[str, str]]:
    """Return step and port of the workflow's outputs."""
    places = [output.split("/") for output in run.expected.pipeline.outputs]
    return [(step, port) for step, port in places]
