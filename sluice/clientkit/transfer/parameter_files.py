"""Upload of parameters that are files, directories or data sets.

Local files become separate data sets, which are deleted with the chain.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice.clientkit.connection import Connection
from sluice.clientkit.local_paths import local_path_of
from sluice.clientkit.transfer.inputs import (
    BundledEntry,
    InputEntry,
    NamedFile,
    add_named_secondary_files,
    describe_path_problem,
    list_entries,
)
from sluice.clientkit.transfer.parameter_bundles import build_bundles
from sluice.clientkit.transfer.upload import (
    create_empty_dataset,
    delete_unused_dataset,
    upload_files,
)
from sluice.contracts.common.naming import MAX_DATASET_NAME, fitting_name
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.data.asset_refs import is_asset
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.plan import DataEntries, Plan
from sluice.text.visible_text import quoted, shown_path

_CLASSES = ("File", "Directory")
#: Characters that the name of a data set cannot have.
_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_.+@=,~ -]")


def local_files(plan: Plan, params: Mapping[str, Any]) -> dict[str, list[InputEntry]]:
    """Return the local files of the parameters, by parameter.

    A parameter that is a file or directory is a path, or a CWL object with a path. A parameter that
    is a data set is a folder, or a list of these.

    Raises:
        Unprocessable: Files cannot be taken. The findings name them.
    """
    dataset_parameters = plan.dataset_parameters
    bundle_parameters = {
        name: parameter
        for name, parameter in plan.parameters.items()
        if parameter.is_bundle or parameter.entry_per_item
    }
    bundles_by_name = {
        name: build_bundles(params.get(name), parameter, f"parameter {quoted(name)}")
        for name, parameter in bundle_parameters.items()
    }
    bundles: dict[str, list[InputEntry]] = {
        name: [*entries] for name, entries in bundles_by_name.items() if entries is not None
    }
    candidates = {
        name: _read_paths(params.get(name), allows_list=name in dataset_parameters)
        for name in plan.file_parameters
        if name not in bundle_parameters and not is_asset(params.get(name))
    }
    paths_by_parameter = {name: paths for name, paths in candidates.items() if paths}
    problems = [
        Finding.about_parameter(name, f"{shown_path(path)}: {why}", is_sentence=True)
        for name, paths in paths_by_parameter.items()
        for path in (named.path for named in paths)
        if (why := _describe_problem(path, name, plan))
    ]
    if problems:
        raise Unprocessable("files that parameters name cannot be taken", findings=problems)
    return {
        name: _build_entries(name, paths, plan.parameters[name].entries or DataEntries())
        for name, paths in paths_by_parameter.items()
    } | bundles


def dataset_entries(plan: Plan, value: Any) -> list[InputEntry]:
    """Return the entries of a data set that a job order names as a list of files.

    Raises:
        Unprocessable: The value is something else, or a file cannot be taken.
    """
    paths = _read_paths(value, allows_list=True)
    if value == []:
        return []
    if not paths:
        raise Unprocessable(
            f"input {quoted(plan.data_input)} is the data set: a list of files or directories,"
            " each with its path"
        )
    return _build_entries(plan.data_input, paths, plan.data_entries)


def _build_entries(
    name: str, paths: Sequence["_NamedPath"], data_entries: DataEntries
) -> list[InputEntry]:
    """Return the entries of an input.

    Raises:
        Unprocessable: A file cannot be taken. The message names the input.
    """
    try:
        entries = list_entries([named.path for named in paths], data_entries)
        if any(named.secondary_files for named in paths):
            entries = add_named_secondary_files(
                entries, {named.path: named.secondary_files for named in paths}
            )
    except Unprocessable as refusal:
        raise Unprocessable(
            f"input {quoted(name)}: {refusal.detail}", findings=refusal.findings
        ) from refusal
    if data_entries.type == "Directory":
        entries = [_with_listing(entry, named) for entry, named in zip(entries, paths, strict=True)]
    return entries


def _with_listing(entry: InputEntry, named: "_NamedPath") -> InputEntry:
    if not isinstance(entry, BundledEntry) or named.listing is None:
        return entry
    return BundledEntry(entry.source, {**entry.value, "listing": named.listing})


def _describe_problem(path: Path, name: str, plan: Plan) -> str:
    if name in plan.dataset_parameters:
        return describe_path_problem(path)
    data_entries = plan.parameters[name].entries
    if data_entries is not None and data_entries.type == "Directory":
        return describe_path_problem(path) or ("" if path.is_dir() else "a file, and not a folder")
    return "a folder, and not a file" if path.is_dir() else describe_path_problem(path)


async def upload_parameter_files(
    connection: Connection,
    params: Mapping[str, Any],
    files: Mapping[str, Sequence[InputEntry]],
    *,
    name_prefix: str,
    group: str | None = None,
    undo: AsyncExitStack | None = None,
) -> dict[str, Any]:
    """Upload the files of parameters, and return the parameters with data sets in their places.

    Args:
        connection: The connection to the system.
        params: The parameters.
        files: The local files by parameter.
        name_prefix: The name of the chain's data set. The names of the new data sets begin with it.
        group: The group that owns the new data sets.
        undo: Receives the calls that delete the new data sets.
    """
    values = dict(params)
    for name, entries in files.items():
        new = NewDataset(
            name=fitting_name(
                name_prefix, f".{_OTHER_CHARACTERS.sub('_', name)}", max_bytes=MAX_DATASET_NAME
            ),
            on_demand=True,
            group=group,
        )
        dataset = (
            await upload_files(connection, entries, dataset=new)
            if entries
            else await create_empty_dataset(connection, new)
        )
        if undo is not None:
            undo.push_async_callback(delete_unused_dataset, connection, dataset)
        values[name] = dataset_value(str(dataset.uid), entries)
    return values


def dataset_value(dataset: str, entries: Sequence[InputEntry]) -> dict[str, Any]:
    """Return the value of a parameter that stands for a data set of these entries."""
    first = entries[0] if entries else None
    value = first.value if isinstance(first, BundledEntry) else None
    kind = value.get("class") if isinstance(value, Mapping) else None
    return {
        "class": "Directory" if kind == "Directory" else "File",
        "dataset": dataset,
        "retention": "delete",
        **({"bundle": True} if kind == "File" else {}),
    }


@dataclass(frozen=True, slots=True)
class _NamedPath:
    """A path, and what its CWL object names beside it.

    Attributes:
        listing: The entries of a directory that was written as a literal.
    """

    path: Path
    secondary_files: Sequence[NamedFile] = ()
    listing: Sequence[Mapping[str, Any]] | None = None


def _read_paths(value: Any, *, allows_list: bool) -> list[_NamedPath]:
    """Return the paths in a value, or none if a part of it is not a path.

    Args:
        value: The value of a parameter.
        allows_list: Whether the value may be a list.
    """
    values = value if allows_list and isinstance(value, list) else [value]
    paths = [_read_path(each) for each in values]
    return [] if None in paths else [each for each in paths if each is not None]


def _read_path(value: Any) -> _NamedPath | None:
    path = _local_path(value)
    if path is None or not isinstance(value, Mapping):
        return None if path is None else _NamedPath(path)
    secondary_values = value.get("secondaryFiles")
    others = secondary_values if isinstance(secondary_values, list) else []
    listing = value.get("listing")
    return _NamedPath(
        path,
        [
            NamedFile(other_path, str(other.get("basename", other_path.name)))
            for other in others
            if isinstance(other, Mapping) and (other_path := _local_path(other)) is not None
        ],
        listing if isinstance(listing, list) else None,
    )


def _local_path(value: Any) -> Path | None:
    if isinstance(value, Mapping) and value.get("class") in _CLASSES and "dataset" not in value:
        return local_path_of(value)
    return Path(value) if isinstance(value, str) and value else None
