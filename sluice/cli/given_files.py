"""Parameters that are files: local ones are brought in as data sets of their own, which go with the chain."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sluice.cli import carry
from sluice.cli.connect import Connection
from sluice.contracts.datasets import NewDataset
from sluice.contracts.plan import Plan
from sluice.contracts.problems import Unprocessable


def local_files(plan: Plan, params: Mapping[str, Any]) -> dict[str, Path]:
    """Of the parameters that are files, those given as a path or as a CWL File object with one. Raises ``Unprocessable`` naming
    what is not there."""
    found = {name: path for name in plan.file_parameters if (path := _path_of(params.get(name))) is not None}
    missing = [f"parameter {name!r}: no such file: {path}" for name, path in found.items() if not path.is_file()]
    if missing:
        raise Unprocessable("; ".join(missing))
    return found


async def bring_in_parameters(
    connection: Connection, params: Mapping[str, Any], files: Mapping[str, Path], *, dataset_name: str
) -> dict[str, Any]:
    """``params`` with the data sets of the files in their places; they are named after the data set that goes with them."""
    values = dict(params)
    for name, path in files.items():
        new = NewDataset(name=f"{dataset_name}.{name}", on_demand=True)
        dataset = await carry.bring_in(connection, [path], dataset=new, on_file=lambda size: None)
        values[name] = {"class": "File", "dataset": str(dataset.uid), "retention": "delete"}
    return values


def _path_of(value: Any) -> Path | None:
    if isinstance(value, Mapping) and value.get("class") == "File" and "dataset" not in value:
        location = str(value.get("location", ""))
        value = value.get("path") or (unquote(location.removeprefix("file://")) if location.startswith("file://") else location)
    return Path(value) if isinstance(value, str) and value else None
