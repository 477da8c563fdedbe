"""Parameters that are files: local ones are brought in as data sets of their own, which go with the
chain."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sluice.cli.connection import Connection
from sluice.cli.transfer.inputs import shown_path, trouble_with
from sluice.cli.transfer.upload import take_dataset_back, upload_files
from sluice.contracts.asset_refs import is_asset
from sluice.contracts.datasets import NewDataset
from sluice.contracts.plan import Plan
from sluice.contracts.problems import Finding, Unprocessable


def local_files(plan: Plan, params: Mapping[str, Any]) -> dict[str, Path]:
    """Of the parameters that are files, those given as a path or as a CWL File object with one.
    Raises ``Unprocessable`` naming what is not there."""
    found = {
        name: path
        for name in plan.file_parameters
        if not is_asset(params.get(name)) and (path := _path_of(params.get(name))) is not None
    }
    wrong = [
        Finding(message=f"parameter {name!r}: {why}: {shown_path(path)}")
        for name, path in found.items()
        if (why := _trouble(path))
    ]
    if wrong:
        raise Unprocessable("files that parameters name cannot be taken", findings=wrong)
    return found


def _trouble(path: Path) -> str:
    return "a folder, and not a file" if path.is_dir() else trouble_with(path)


async def upload_parameter_files(
    connection: Connection,
    params: Mapping[str, Any],
    files: Mapping[str, Path],
    *,
    dataset_name: str,
    undo: AsyncExitStack | None = None,
) -> dict[str, Any]:
    """``params`` with the data sets of the files in their places; they are named after the data set
    that goes with them. ``undo``: gets the calls that take them back."""
    values = dict(params)
    for name, path in files.items():
        new = NewDataset(name=f"{dataset_name}.{name}", on_demand=True)
        dataset = await upload_files(connection, [path], dataset=new)
        if undo is not None:
            undo.push_async_callback(take_dataset_back, connection, dataset)
        values[name] = {"class": "File", "dataset": str(dataset.uid), "retention": "delete"}
    return values


def _path_of(value: Any) -> Path | None:
    if isinstance(value, Mapping) and value.get("class") == "File" and "dataset" not in value:
        location = str(value.get("location", ""))
        value = value.get("path") or (
            unquote(location.removeprefix("file://"))
            if location.startswith("file://")
            else location
        )
    return Path(value) if isinstance(value, str) and value else None
