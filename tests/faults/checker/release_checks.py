"""Intermediate files were released early only after their use, and all releases are complete."""

from collections.abc import Iterator
from typing import Any

from tests.faults.checker.snapshot import Row
from tests.faults.checker.view import RunView, View, list_stored_inputs


def check_files_released_after_reading(view: View) -> Iterator[str]:
    """Require that all jobs that read a released file had finished before (invariant 4)."""
    intermediate_uids: set[Any] = set()
    for run in view.runs:
        for upstream in run.steps.values():
            for port, dataset in upstream.outputs.items():
                place = f"{upstream.step.name}/{port}"
                if place not in run.expected.pipeline.outputs:
                    intermediate_uids.add(dataset["uid"])
                    yield from _find_unread_releases(view, run, place, dataset)
    for dataset in view.catalogue.datasets.values():
        if dataset["uid"] not in intermediate_uids and any(
            file.released_at is not None for file in view.files(dataset)
        ):
            yield (
                f"files of data set {dataset['name']} were released, although it is no intermediate"
                " data set"
            )


def check_counts_of_released(view: View) -> Iterator[str]:
    for dataset in view.catalogue.datasets.values():
        released_count = sum(file.released_at is not None for file in view.files(dataset))
        if dataset["released"] != released_count:
            yield (
                f"data set {dataset['name']} counts {dataset['released']} released files, and has"
                f" {released_count}"
            )


def check_releases_done(view: View) -> Iterator[str]:
    """Require that no replica waits for its removal and that no records of ended tasks are left."""
    tables = (("dms", "removals"), ("dms", "file_reads"), ("wms", "downstream_counts"))
    for service, table in tables:
        if rows := view.state.rows(service, table):
            yield f"{len(rows)} rows are left in {table}"


def _find_unread_releases(view: View, run: RunView, place: str, dataset: Row) -> Iterator[str]:
    downstream = [step for step in run.steps.values() if step.step.source == place]
    ends = [
        {
            name: job["ended_at"]
            for job in step.jobs
            if job["state"] == "finished"
            for name in list_stored_inputs(job)
        }
        for step in downstream
    ]
    for file in view.files(dataset):
        if file.released_at is None:
            continue
        if any(file.name not in end or end[file.name] > file.released_at for end in ends):
            read = ", ".join(
                f"{step.step.name} {end.get(file.name, 'never')}"
                for step, end in zip(downstream, ends, strict=True)
            )
            yield (
                f"{run.expected.dataset}: {place}: {file.name} was released at"
                f" {file.released_at}, before all that read it had finished: {read}"
            )
