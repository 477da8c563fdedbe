"""What a job that succeeded adds to the catalogue: its report checked against its task, and the files to register."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sluice.contracts.datasets import NewFile
from sluice.contracts.pilots import AttemptReport, LogFile, OutputFile
from sluice.contracts.states import AttemptOutcome, ErrorClass, TaskMode
from sluice.contracts.tasks import Task, TaskOutput


class Fault(Exception):
    """A report of success that cannot be taken as one; ``error`` is the class under which the attempt fails."""

    def __init__(self, error: ErrorClass, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


_NUMBERED = {False: "as one of a list, which it is not", True: "without its place in the list that it is one of"}


def inside(url: str, folder: str) -> bool:
    """Does the file's URL lie in the folder? (Contracts refuse '..' in both.)"""
    return url.startswith(folder + "/") and "\0" not in url


def check_report(task: Task, outputs: Mapping[str, TaskOutput], report: AttemptReport) -> None:
    """Raises ``Fault`` where a report names what is not the task's, or lacks what the task must have."""
    if report.log is not None and not inside(report.log.url, task.log_out_url):
        raise Fault(ErrorClass.INTERNAL, f"the pilot put the log at {report.log.url}, outside of {task.log_out_url}")
    if report.outcome is not AttemptOutcome.FINISHED:
        return
    seen: set[tuple[str, int | None]] = set()
    for file in report.outputs:
        place = outputs.get(file.port)
        if place is None:
            raise Fault(ErrorClass.INTERNAL, f"the pilot reported a file for output {file.port!r}, which the step does not have")
        if place.spread is (file.number is None):
            raise Fault(ErrorClass.INTERNAL, f"the pilot reported output {file.port!r} {_NUMBERED[place.spread]}")
        if (file.port, file.number) in seen:
            raise Fault(ErrorClass.INTERNAL, f"the pilot reported two files for output {file.port!r}")
        if not inside(file.url, place.dat_out_url):
            raise Fault(ErrorClass.INTERNAL, f"the pilot put output {file.port!r} at {file.url}, outside of {place.dat_out_url}")
        seen.add((file.port, file.number))
    ports = {port for port, _ in seen}
    missing = [port for port, place in outputs.items() if not place.optional and not place.spread and port not in ports]
    if missing:
        names = ", ".join(missing)
        raise Fault(ErrorClass.TOOL_FAILED, f"the tool ended well but wrote no file for output {names}")


def output_files(
    task: Task, outputs: Mapping[str, TaskOutput], report: AttemptReport, *, seq: int, inputs: Sequence[Mapping[str, Any]]
) -> list[tuple[UUID, NewFile]]:
    """Data set and file for each output. Order is kept: the file's seq is the job's, or its place in a list (invariant 8)."""
    meta = _meta(task.mode, inputs)
    origin = _origin(task, report, inputs)
    return [
        (outputs[file.port].dat_out_uid, _file(file, seq if file.number is None else file.number, meta, origin))
        for file in report.outputs
    ]


def log_file(task: Task, report: AttemptReport, *, seq: int) -> list[tuple[UUID, NewFile]]:
    """The attempt's log, if it has one; attempts that failed have theirs too."""
    if report.log is None:
        return []
    origin = {"task": str(task.uid), "job": report.id, "attempt": report.attempt}
    return [(task.log_out_uid, _file(report.log, seq, {}, origin))]


def _meta(mode: TaskMode, inputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if mode is TaskMode.MAP:
        return dict(inputs[0].get("meta", {}))
    merged = [file for file in inputs if not file.get("port")]
    return {"first_seq": merged[0]["seq"], "last_seq": merged[-1]["seq"], "files": len(merged)}


def _origin(task: Task, report: AttemptReport, inputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "task": str(task.uid),
        "job": report.id,
        "attempt": report.attempt,
        "inputs": [file["name"] for file in inputs],
    }


def _file(file: OutputFile | LogFile, seq: int, meta: dict[str, Any], origin: dict[str, Any]) -> NewFile:
    # Every value was checked when the report was read; checking again would cost more than the rest of the report.
    return NewFile.model_construct(
        seq=seq, name=file.name, size=file.size, checksum=file.checksum, url=file.url, meta=meta, origin=origin
    )
