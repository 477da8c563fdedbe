"""Upload of parameters that are files, directories or data sets.

Local files become data sets of their own, which are deleted with the chain.
"""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sluice.cli.connection import Connection
from sluice.cli.transfer.inputs import (
    BundledEntry,
    InputEntry,
    entries_of_paths,
    trouble_with,
    with_named_beside,
)
from sluice.cli.transfer.upload import take_dataset_back, upload_files
from sluice.contracts.common.naming import MAX_DATASET_NAME, fitting_name
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.data.asset_refs import is_asset
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.plan import DataEntries, Plan
from sluice.text.visible_text import quoted, shown_path

_CLASSES = ("File", "Directory")


def local_files(plan: Plan, params: Mapping[str, Any]) -> dict[str, list[InputEntry]]:
    """Return the local files of the parameters, by parameter.

    A parameter that is a file or directory is a path, or a CWL object with a path. A parameter that
    is a data set is a folder, or a list of these.

    Raises:
        Unprocessable: Files cannot be taken. The findings name them.
    """
    whole = plan.dataset_parameters
    named = {
        name: _given_of(params.get(name), whole=name in whole)
        for name in plan.file_parameters
        if not is_asset(params.get(name))
    }
    found = {name: given for name, given in named.items() if given}
    wrong = [
        Finding(message=f"parameter {quoted(name)}: {shown_path(path)}: {why}")
        for name, given in found.items()
        for path, _ in given
        if (why := _trouble(path, name, plan))
    ]
    if wrong:
        raise Unprocessable("files that parameters name cannot be taken", findings=wrong)
    return {
        name: _entries(name, given, plan.parameters[name].entries or DataEntries())
        for name, given in found.items()
    }


def dataset_entries(plan: Plan, value: Any) -> list[InputEntry]:
    """Return the entries of a data set that a job order names as a list of files.

    Raises:
        Unprocessable: The value is something else, or a file cannot be taken.
    """
    given = _given_of(value, whole=True)
    if not given:
        raise Unprocessable(
            f"input {quoted(plan.data_input)} is the data set: a list of files or directories,"
            " each with its path"
        )
    return _entries(plan.data_input, given, plan.data_entries)


def _entries(name: str, given: Sequence["_Given"], wanted: DataEntries) -> list[InputEntry]:
    """Return the entries of an input.

    Raises:
        Unprocessable: A file cannot be taken. The message names the input.
    """
    try:
        entries = entries_of_paths([path for path, _ in given], wanted)
        if any(beside for _, beside in given):
            if not wanted.secondary_files:
                raise Unprocessable(
                    "it is given secondaryFiles, which the workflow's input does not say that it"
                    " has: write 'secondaryFiles' there"
                )
            entries = with_named_beside(entries, {path: beside for path, beside in given})
    except Unprocessable as refusal:
        raise Unprocessable(
            f"input {quoted(name)}: {refusal.detail}", findings=refusal.findings
        ) from refusal
    return entries


def _trouble(path: Path, name: str, plan: Plan) -> str:
    if name in plan.dataset_parameters:
        return trouble_with(path)
    wanted = plan.parameters[name].entries
    if wanted is not None and wanted.type == "Directory":
        return trouble_with(path) or ("" if path.is_dir() else "a file, and not a folder")
    return "a folder, and not a file" if path.is_dir() else trouble_with(path)


async def upload_parameter_files(
    connection: Connection,
    params: Mapping[str, Any],
    files: Mapping[str, Sequence[InputEntry]],
    *,
    beside: str,
    group: str | None = None,
    undo: AsyncExitStack | None = None,
) -> dict[str, Any]:
    """Upload the files of parameters, and return the parameters with data sets in their places.

    Args:
        connection: The connection to the system.
        params: The parameters.
        files: The local files by parameter.
        beside: The name of the chain's data set. The names of the new data sets begin with it.
        group: The group that owns the new data sets.
        undo: Receives the calls that delete the new data sets.
    """
    values = dict(params)
    for name, entries in files.items():
        new = NewDataset(
            name=fitting_name(beside, f".{name}", most=MAX_DATASET_NAME),
            on_demand=True,
            group=group,
        )
        dataset = await upload_files(connection, entries, dataset=new)
        if undo is not None:
            undo.push_async_callback(take_dataset_back, connection, dataset)
        values[name] = value_of(str(dataset.uid), entries)
    return values


def value_of(dataset: str, entries: Sequence[InputEntry]) -> dict[str, Any]:
    """Return the value of a parameter that stands for a data set of these entries."""
    first = entries[0]
    kind = first.value["class"] if isinstance(first, BundledEntry) else "File"
    return {"class": kind, "dataset": dataset, "retention": "delete"}


#: A path, and the secondary files that its CWL object names.
_Given = tuple[Path, list[Path]]


def _given_of(value: Any, *, whole: bool) -> list[_Given]:
    """Return the paths in a value, or none if a part of it is not a path.

    Args:
        value: The value of a parameter.
        whole: Whether the value may be a list.
    """
    given = value if whole and isinstance(value, list) else [value]
    found = [_one(each) for each in given]
    return [] if None in found else [each for each in found if each is not None]


def _one(value: Any) -> _Given | None:
    path = _path_of(value)
    if path is None:
        return None
    beside = value.get("secondaryFiles") if isinstance(value, Mapping) else None
    found = [_path_of(other) for other in beside] if isinstance(beside, list) else []
    return path, [other for other in found if other is not None]


def _path_of(value: Any) -> Path | None:
    if isinstance(value, Mapping) and value.get("class") in _CLASSES and "dataset" not in value:
        location = str(value.get("location", ""))
        value = value.get("path") or (
            unquote(location.removeprefix("file://"))
            if location.startswith("file://")
            else location
        )
    return Path(value) if isinstance(value, str) and value else None
