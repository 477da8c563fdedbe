"""Parameters that are files: local ones are brought in as data sets of their own, which go with the
chain."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sluice.cli.connection import Connection
from sluice.cli.transfer.inputs import files_of_paths, shown_path, trouble_with
from sluice.cli.transfer.upload import take_dataset_back, upload_files
from sluice.contracts.asset_refs import is_asset
from sluice.contracts.datasets import NewDataset
from sluice.contracts.plan import Plan
from sluice.contracts.problems import Finding, Unprocessable


def local_files(plan: Plan, params: Mapping[str, Any]) -> dict[str, list[Path]]:
    """Of the parameters that are files, those given as a path or as a CWL File object with one; of
    those that are data sets, as a folder or a list of these. Raises ``Unprocessable`` naming what
    is not there."""
    whole = plan.dataset_parameters
    named = {
        name: _paths_of(params.get(name), whole=name in whole)
        for name in plan.file_parameters
        if not is_asset(params.get(name))
    }
    found = {name: paths for name, paths in named.items() if paths}
    wrong = [
        Finding(message=f"parameter {name!r}: {why}: {shown_path(path)}")
        for name, paths in found.items()
        for path in paths
        if (why := trouble_with(path) if name in whole else _trouble(path))
    ]
    if wrong:
        raise Unprocessable("files that parameters name cannot be taken", findings=wrong)
    return {name: files_of_paths(paths) for name, paths in found.items()}


def _trouble(path: Path) -> str:
    return "a folder, and not a file" if path.is_dir() else trouble_with(path)


async def upload_parameter_files(
    connection: Connection,
    params: Mapping[str, Any],
    files: Mapping[str, Sequence[Path]],
    *,
    dataset_name: str,
    undo: AsyncExitStack | None = None,
) -> dict[str, Any]:
    """``params`` with the data sets of the files in their places; they are named after the data set
    that goes with them. ``undo``: gets the calls that take them back."""
    values = dict(params)
    for name, paths in files.items():
        new = NewDataset(name=f"{dataset_name}.{name}", on_demand=True)
        dataset = await upload_files(connection, paths, dataset=new)
        if undo is not None:
            undo.push_async_callback(take_dataset_back, connection, dataset)
        values[name] = {"class": "File", "dataset": str(dataset.uid), "retention": "delete"}
    return values


def _paths_of(value: Any, *, whole: bool) -> list[Path]:
    """None where one of them is no path. ``whole``: there may be several, in a list."""
    given = value if whole and isinstance(value, list) else [value]
    found = [_path_of(each) for each in given]
    return [] if None in found else [path for path in found if path is not None]


def _path_of(value: Any) -> Path | None:
    if isinstance(value, Mapping) and value.get("class") == "File" and "dataset" not in value:
        location = str(value.get("location", ""))
        value = value.get("path") or (
            unquote(location.removeprefix("file://"))
            if location.startswith("file://")
            else location
        )
    return Path(value) if isinstance(value, str) and value else None
