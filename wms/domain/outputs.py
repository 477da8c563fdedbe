"""Additions of a successful job to the catalogue: the checks of its report, and its files."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sluice.contracts.common.naming import (
    FILE_SYSTEM_NAME_BYTES,
    attempt_prefix,
    log_name,
    name_bytes,
)
from sluice.contracts.common.plain_paths import stays_inside
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, TaskMode
from sluice.contracts.data.counts import COUNTS
from sluice.contracts.data.datasets import NewFile
from sluice.contracts.jobs.tasks import Task, TaskOutput
from sluice.contracts.pilots.output_files import LogFile, OutputFile
from sluice.contracts.pilots.reports import AttemptReport
from sluice.text.visible_text import quoted


class InvalidReport(Exception):
    """A report of success that is not valid; the attempt fails with class ``error``."""

    def __init__(self, error: ErrorClass, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


def _describe_entry(number: int | None) -> str:
    return (
        "the job, which has several"
        if number is None
        else f"entry {number}, which the job does not have"
    )


def is_inside(url: str, folder: str) -> bool:
    """Return whether the file's URL is in the folder; contracts refuse '..' in both."""
    return url.startswith(folder + "/") and "\0" not in url


def _check_log(log: LogFile, folder: str, *, name: str) -> None:
    """Check that the log has the name and place of the attempt's log.

    Raises:
        InvalidReport: It has not.
    """
    if (log.name, log.url) != (name, f"{folder}/{name}"):
        raise InvalidReport(
            ErrorClass.INTERNAL, f"the pilot put the log at {log.url}, not at {folder}/{name}"
        )


def _require_own_name(file: OutputFile, number: int, attempt: int) -> None:
    """Check that the file is named after the attempt.

    Otherwise two jobs might name the same file, and the catalogue would refuse it together with the
    files of other jobs in the same message.

    Raises:
        InvalidReport: The name is not the attempt's.
    """
    prefix = f"{attempt_prefix(number, attempt)}-"
    if not (file.name.startswith(prefix) and file.url.endswith(f"/{file.name}")):
        raise InvalidReport(
            ErrorClass.INTERNAL,
            f"the file {file.name} at {file.url} is not named {prefix}…, or its URL does not end"
            " with its name",
        )


def _check_place(file: OutputFile, place: TaskOutput) -> None:
    """Check the place of an output file.

    Raises:
        InvalidReport: The file is outside of the output's folder, or the catalogue would refuse its
            place.
    """
    if not is_inside(file.url, place.dat_out_url):
        raise InvalidReport(
            ErrorClass.INTERNAL,
            f"the pilot put output {quoted(file.port)} at {file.url}, outside of"
            f" {place.dat_out_url}",
        )
    if not stays_inside(file.url.removeprefix(place.dat_out_url + "/")):
        # The catalogue would refuse the whole message, with the files of other jobs.
        raise InvalidReport(
            ErrorClass.STAGE_OUT_FAILED,
            f"the pilot put output {quoted(file.port)} at {file.url}, which is not a plain path",
        )
    if name_bytes(file.url.rpartition("/")[2]) > FILE_SYSTEM_NAME_BYTES:
        raise InvalidReport(
            ErrorClass.STAGE_OUT_FAILED,
            f"the pilot put output {quoted(file.port)} at {file.url}, whose name has more than"
            f" {FILE_SYSTEM_NAME_BYTES} bytes",
        )


def check_report(
    task: Task,
    outputs: Mapping[str, TaskOutput],
    report: AttemptReport,
    *,
    seq: int,
    inputs: Sequence[Mapping[str, Any]],
) -> None:
    """Check a report against its task; ``seq`` and ``inputs`` are those of the job.

    Raises:
        InvalidReport: The report names files that are not the attempt's, or lacks an output.
    """
    if report.log is not None:
        _check_log(report.log, task.log_out_url, name=log_name(seq, report.attempt))
    if report.outcome is not AttemptOutcome.FINISHED:
        return
    entries: set[int | None] = {file["seq"] for file in inputs} if task.batch > 1 else {None}
    reported: set[tuple[str, int | None]] = set()
    urls: set[str] = set()
    for file in report.outputs:
        place = outputs.get(file.port)
        if place is None:
            raise InvalidReport(
                ErrorClass.INTERNAL,
                f"the pilot reported a file for output {quoted(file.port)}, which the step does"
                " not have",
            )
        if (file.number is None) if place.spread else (file.number not in entries):
            raise InvalidReport(
                ErrorClass.INTERNAL,
                f"the pilot reported output {quoted(file.port)} for {_describe_entry(file.number)}",
            )
        if (file.port, file.number) in reported:
            raise InvalidReport(
                ErrorClass.INTERNAL, f"the pilot reported two files for output {quoted(file.port)}"
            )
        _check_place(file, place)
        _require_own_name(file, seq if file.number is None else file.number, report.attempt)
        if file.url in urls:
            raise InvalidReport(
                ErrorClass.INTERNAL, f"the pilot reported the file at {file.url} twice"
            )
        reported.add((file.port, file.number))
        urls.add(file.url)
    needed = [port for port, place in outputs.items() if not place.optional and not place.spread]
    missing = [port for port in needed if not all((port, entry) in reported for entry in entries)]
    if missing:
        names = ", ".join(missing)
        raise InvalidReport(
            ErrorClass.TOOL_FAILED, f"the tool ended well but wrote no file for output {names}"
        )


def build_output_files(
    task: Task,
    outputs: Mapping[str, TaskOutput],
    report: AttemptReport,
    *,
    seq: int,
    inputs: Sequence[Mapping[str, Any]],
    merged_before: bool = False,
) -> list[tuple[UUID, NewFile]]:
    """Return the data set and file of each output.

    Order is kept: the seq is that of the job, of one of its inputs, or a place in a list (invariant
    8). ``merged_before``: the inputs were written by jobs of the same task (a tree).
    """
    by_number: dict[int | None, Sequence[Mapping[str, Any]]] = defaultdict(lambda: inputs)
    if task.batch > 1:
        by_number.update(
            {
                number: [file for file in inputs if file["seq"] == number]
                for number in {file["seq"] for file in inputs}
            }
        )
    described_inputs = {
        number: (
            _merge_metadata(inputs)
            if merged_before
            else _build_metadata(task.mode, by_number[number]),
            _build_origin(task, report, by_number[number]),
        )
        for number in {file.number for file in report.outputs}
    }
    return [
        (
            outputs[file.port].dat_out_uid,
            _build_output_file(
                file, seq if file.number is None else file.number, *described_inputs[file.number]
            ),
        )
        for file in report.outputs
    ]


def _build_output_file(
    file: OutputFile, seq: int, meta: dict[str, Any], origin: dict[str, Any]
) -> NewFile:
    return _build_file(file, seq, {**meta, COUNTS: file.counts} if file.counts else meta, origin)


def build_log_file(task: Task, report: AttemptReport, *, seq: int) -> list[tuple[UUID, NewFile]]:
    """Return the log of the attempt, if any; failed attempts have one too."""
    if report.log is None:
        return []
    origin = {"task": str(task.uid), "job": report.id, "attempt": report.attempt}
    return [(task.log_out_uid, _build_file(report.log, seq, {}, origin))]


def _build_metadata(mode: TaskMode, inputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if mode is TaskMode.MAP:
        # Counts of the input do not apply to the output.
        return (
            {key: value for key, value in inputs[0].get("meta", {}).items() if key != COUNTS}
            if inputs
            else {}
        )
    merged = [file for file in inputs if not file.get("port")]
    if not merged:
        return {"files": 0}
    return {"first_seq": merged[0]["seq"], "last_seq": merged[-1]["seq"], "files": len(merged)}


def _merge_metadata(inputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the metadata of a merge of merged files."""
    metas = [file["meta"] for file in inputs]
    files = sum(meta["files"] for meta in metas)
    return {"first_seq": metas[0]["first_seq"], "last_seq": metas[-1]["last_seq"], "files": files}


def _build_origin(
    task: Task, report: AttemptReport, inputs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "task": str(task.uid),
        "job": report.id,
        "attempt": report.attempt,
        "inputs": [file["name"] for file in inputs],
    }


def _build_file(
    file: OutputFile | LogFile, seq: int, meta: dict[str, Any], origin: dict[str, Any]
) -> NewFile:
    # Every value was checked when the report was read. Another check, or a look-up of a default,
    # would cost more than the rest of the report.
    return NewFile.model_construct(
        seq=seq,
        name=file.name,
        size=file.size,
        checksum=file.checksum,
        url=file.url,
        meta=meta,
        origin=origin,
        released=False,
    )
