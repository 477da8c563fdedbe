#!/usr/bin/env python3
"""Run a CWL document as a template on a running system, like a CWL runner.

The output object is printed as JSON. The exit status is 0 if the chain finishes, and else 1. The
system is the one in SLUICE_HOME.
"""

import argparse
import asyncio
import hashlib
import json
import os
import sys
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sluice import cwl_values, storage
from sluice.cli.job_orders.added_requirements import add_requirements
from sluice.cli.job_orders.job_order import REQUIREMENTS_KEY, RUNNER_KEYS, read_job_order
from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.template_files import read_template_files, template_name
from sluice.clientkit.transfer.parameter_files import (
    dataset_entries,
    local_files,
    upload_parameter_files,
)
from sluice.clientkit.transfer.upload import create_empty_dataset, upload_files
from sluice.contracts.chains.chains import ChainOutput
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.problems import NotAvailable, ServiceError
from sluice.contracts.common.states import ChainState, EntryKind
from sluice.contracts.data.datasets import File, NewDataset
from sluice.contracts.templates.plan import Plan
from sluice.embedded.home import Home

#: Seconds between two queries of a chain.
_POLL_SECONDS = 0.3


def main() -> int:
    """Run the document, print its output object, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outdir", type=Path, default=Path())
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("document")
    parser.add_argument("order", type=Path, nargs="?")
    arguments = parser.parse_args()
    try:
        outputs = asyncio.run(_run(arguments))
    except ServiceError as error:
        findings = "\n".join(map(str, getattr(error, "findings", ()) or ()))
        print(f"{error.detail}\n{findings}", file=sys.stderr)
        return 1
    if outputs is None:
        return 1
    print(json.dumps(outputs, indent=2))
    return 0


async def _run(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Return the output object, or None if the chain does not finish."""
    document = Path(arguments.document)
    name = f"{template_name(document)[:60]}-{uuid.uuid4().hex[:8]}"
    order = {} if arguments.order is None else read_job_order(arguments.order)
    values = {key: value for key, value in order.items() if key not in RUNNER_KEYS}
    files = read_template_files([document])
    if REQUIREMENTS_KEY in values:
        files = add_requirements(files, values.pop(REQUIREMENTS_KEY))
    async with connected(_find_system()) as connection:
        template = await connection.operator.store_template(files.new(name))
        plan = template.plan
        dataset = await _upload_dataset(connection, plan, values.pop(plan.data_input, []), name)
        # cwltool ignores values of inputs that do not exist.
        values = {key: value for key, value in values.items() if key in plan.parameters}
        local = local_files(plan, values)
        params = await upload_parameter_files(connection, values, local, name_prefix=name)
        chain = await connection.operator.request_chain(dataset, name, params=params)
        while not chain.state.final:
            await asyncio.sleep(_POLL_SECONDS)
            chain = await connection.operator.get_chain(chain.uid)
        if chain.state is not ChainState.FINISHED:
            print(f"chain {chain.uid} is {chain.state}: {chain.reason}", file=sys.stderr)
            return None
        outputs = (await connection.operator.list_outputs(chain.uid)).outputs
        return {
            output.name: await _read_output(connection, output, arguments.outdir.absolute())
            for output in outputs
        }


def _find_system() -> str:
    running = Home(Path(os.environ["SLUICE_HOME"])).running()
    if running is None:
        raise NotAvailable("no system runs in SLUICE_HOME: start one with `sluice up`")
    return running.url


async def _upload_dataset(
    connection: Connection, plan: Plan, value: Any, name: str
) -> uuid.UUID | None:
    if not plan.takes_dataset:
        return None
    new = NewDataset(name=name, on_demand=True)
    if value == []:
        return (await create_empty_dataset(connection, new)).uid
    return (await upload_files(connection, dataset_entries(plan, value), dataset=new)).uid


async def _read_output(connection: Connection, output: ChainOutput, folder: Path) -> Any:
    files = [file async for file in connection.operator.iterate_files(output.dataset.uid)]
    entries = [_read_entry(file, output, folder) for file in files]
    if not output.single or len(entries) > 1:
        return entries
    return entries[0] if entries else None


def _read_entry(file: File, output: ChainOutput, folder: Path) -> Any:
    place = Path(tempfile.mkdtemp(dir=folder))
    path = place / own_name(file.name)
    storage.fetch(file.url, path, checksum=file.checksum, size=file.size)
    if output.kind is EntryKind.FILE:
        return _describe(path)
    (place / "value").mkdir()
    return _with_places(cwl_values.unpack(path, place / "value"), place)


def _with_places(value: Any, folder: Path) -> Any:
    """Return a value with the files that a CWL runner prints for its files and directories."""
    match value:
        case {"class": "File" | "Directory"}:
            path = _place(value, folder)
            fields = {key: value[key] for key in ("format", "secondaryFiles") if key in value}
            return _describe(path) | {
                key: _with_places(field, folder) for key, field in fields.items()
            }
        case dict():
            return {key: _with_places(inner, folder) for key, inner in value.items()}
        case list():
            return [_with_places(item, folder) for item in value]
    return value


def _place(value: Mapping[str, Any], folder: Path) -> Path:
    """Return the path of a file or directory under its own name, and make it if it is a literal."""
    own = Path(tempfile.mkdtemp(dir=folder), str(value.get("basename", "literal")))
    if "location" in value:
        Path(unquote(urlsplit(value["location"]).path)).rename(own)
    elif value["class"] == "File":
        own.write_text(value.get("contents", ""))
    else:
        own.mkdir()
        for part in value.get("listing", ()):
            place = _place(part, folder)
            place.rename(own / place.name)
    return own


def _describe(path: Path) -> dict[str, Any]:
    common = {"location": path.as_uri(), "basename": path.name}
    if path.is_dir():
        listing = [_describe(entry) for entry in sorted(path.iterdir())]
        return {"class": "Directory", **common, "listing": listing}
    content = path.read_bytes()
    checksum = f"sha1${hashlib.sha1(content, usedforsecurity=False).hexdigest()}"
    return {"class": "File", **common, "size": len(content), "checksum": checksum}


if __name__ == "__main__":
    sys.exit(main())
