"""Run the same template on the same files with cwltool and with Sluice, and return both answers."""

import asyncio
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sluice import cwl_values, storage
from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.template_files import read_template_files
from sluice.clientkit.transfer.inputs import list_entries
from sluice.clientkit.transfer.parameter_files import (
    dataset_entries,
    local_files,
    upload_parameter_files,
)
from sluice.clientkit.transfer.upload import create_empty_dataset, upload_files
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.states import ChainState, EntryKind
from sluice.contracts.data.datasets import File, NewDataset
from sluice.contracts.templates.plan import PlanOutput
from sluice.contracts.templates.templates import Template
from tests.differential.reference import make_job_order
from tests.waiting import eventually

#: Seconds between two queries of a chain.
POLL_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file: its name, its digest, and its secondary files."""

    name: str
    sha256: str
    secondary_files: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class DirectoryContent:
    """A directory: its name, and the digest of each path below it; None for a directory."""

    name: str
    content: tuple[tuple[str, str | None], ...]


#: Output of the workflow → its value: a file, a directory, an ordered list, or plain data.
Answer = Mapping[str, Any]


def run_with_cwltool(
    workflow: Path, files: Sequence[Path], params: Mapping[str, Any], *, folder: Path
) -> Answer:
    """Run cwltool and print its messages; raise ``CalledProcessError`` if it fails."""
    (folder / "order.json").write_text(json.dumps({**make_job_order(files), **params}))
    program = str(
        Path(sys.executable).with_name("cwltool")
    )  # As a module it would always end with status 0.
    command = [program, "--quiet", "--outdir", str(folder / "out"), str(workflow), "order.json"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    print(done.stderr)
    done.check_returncode()
    return convert_output_object(json.loads(done.stdout))


def convert_output_object(outputs: Mapping[str, Any]) -> Answer:
    """Convert the output object of a runner."""
    return {name: _remove_missing(_convert_value(value)) for name, value in outputs.items()}


def run_with_sluice(
    url: str, workflow: Path, files: Sequence[Path], params: Mapping[str, Any]
) -> Answer:
    """Return the chain's outputs in the catalogue; fail if the chain does not finish."""
    return asyncio.run(run_with_sluice_async(url, workflow, files, params))


async def run_with_sluice_async(
    url: str, workflow: Path, files: Sequence[Path], params: Mapping[str, Any]
) -> Answer:
    """Do the same as ``run_with_sluice``."""
    new_template = read_template_files([workflow]).new(workflow.stem)
    async with connected(url) as connection:
        template = await connection.operator.store_template(new_template)
        name = f"texts-for-{new_template.name}"
        dataset = None
        if template.plan.takes_dataset:
            entries = list_entries(files, template.plan.data_entries)
            new = NewDataset(name=name, on_demand=True)
            dataset = (await upload_files(connection, entries, dataset=new)).uid
        local = local_files(template.plan, params)
        values = await upload_parameter_files(connection, params, local, name_prefix=name)
        chain = await connection.operator.request_chain(dataset, template.name, params=values)
        return await wait_for_chain_outputs(connection, chain, template)


async def run_job_order(url: str, workflow: Path, order: Mapping[str, Any]) -> Answer:
    """Return the outputs of a chain with a job order; fail if the chain does not finish."""
    async with connected(url) as connection:
        template = await connection.operator.store_template(
            read_template_files([workflow]).new(workflow.stem)
        )
        plan, values, dataset = template.plan, dict(order), None
        if plan.takes_dataset:
            entries = dataset_entries(plan, values.pop(plan.data_input, []))
            new = NewDataset(name=f"data-{workflow.stem}", on_demand=True)
            data = (
                await upload_files(connection, entries, dataset=new)
                if entries
                else await create_empty_dataset(connection, new)
            )
            dataset = data.uid
        params = await upload_parameter_files(
            connection, values, local_files(plan, values), name_prefix=workflow.stem
        )
        chain = await connection.operator.request_chain(dataset, template.name, params=params)
        return await wait_for_chain_outputs(connection, chain, template)


async def wait_for_chain_outputs(
    connection: Connection, chain: Chain, template: Template
) -> Answer:
    """Wait for the end of the chain and return its outputs; fail if it does not finish."""

    async def has_ended() -> bool:
        nonlocal chain
        chain = await connection.operator.get_chain(chain.uid)
        return chain.state.final

    await eventually(has_ended, what="the chain has ended", seconds=300, period=POLL_SECONDS)
    assert chain.state is ChainState.FINISHED, chain.reason
    return {
        output.name: await _read_output(connection, chain, output)
        for output in template.plan.outputs
    }


async def _read_output(connection: Connection, chain: Chain, output: PlanOutput) -> Any:
    [dataset] = [
        dataset
        for dataset in chain.datasets
        if (dataset.step, dataset.port) == (output.step, output.port)
    ]
    entries = [
        _convert_entry(file, output) async for file in connection.dms.iterate_files(dataset.uid)
    ]
    if not output.single or len(entries) > 1:
        return entries
    return _remove_missing(entries[0]) if entries else None


def _convert_entry(file: File, output: PlanOutput) -> Any:
    if output.kind is EntryKind.FILE:
        return WrittenFile(own_name(file.name), file.checksum.removeprefix("sha256:"))
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "bundle"
        storage.fetch(file.url, bundle, checksum=file.checksum, size=file.size)
        return _convert_value(cwl_values.unpack(bundle, Path(folder)))


def _remove_missing(value: Any) -> Any:
    """Return a value without the nulls of a list, which are missing entries of a data set."""
    return [item for item in value if item is not None] if isinstance(value, list) else value


def _convert_value(value: Any) -> Any:
    match value:
        case list():
            return [_convert_value(item) for item in value]
        case {"class": "File"}:
            path = _get_path(value)
            secondary_file = sorted(
                (_convert_value(file) for file in value.get("secondaryFiles", ())),
                key=lambda file: str(file.name),
            )
            for file in value.get("secondaryFiles", ()):
                assert _get_path(file).parent == path.parent
            return WrittenFile(value["basename"], _compute_digest(path), tuple(secondary_file))
        case {"class": "Directory"}:
            path = _get_path(value)
            child = sorted(path.rglob("*"))
            return DirectoryContent(
                value["basename"],
                tuple(
                    (str(p.relative_to(path)), None if p.is_dir() else _compute_digest(p))
                    for p in child
                ),
            )
        case dict():
            return {key: _convert_value(item) for key, item in value.items()}
    return value


def _get_path(value: Mapping[str, Any]) -> Path:
    return Path(unquote(urlsplit(value["location"]).path))


def _compute_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
