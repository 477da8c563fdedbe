"""Download of results: the outputs of a chain or the files of a data set, and a manifest."""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sluice import storage
from sluice.clientkit.connection import Connection
from sluice.clientkit.transfer.download import fetch_files
from sluice.clientkit.transfer.output_bundles import unpack_output
from sluice.clientkit.transfer.output_folder import FilesExist
from sluice.contracts.chains.chains import Chain, ChainOutput
from sluice.contracts.common.naming import delivered_name, own_name
from sluice.contracts.common.states import EntryKind
from sluice.contracts.data.datasets import Dataset, File
from sluice.contracts.data.partial import PartialOutputs

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Output:
    """A file in the output folder.

    ``name`` is its path there. ``file`` is the file of the catalogue that it is or was packed in.
    ``output`` is the workflow output, and empty for files of a data set.
    """

    path: Path
    name: str
    file: File
    output: str
    size: int
    checksum: str


@dataclass(frozen=True, slots=True)
class _Plan:
    """The files to write. ``existing_paths`` has the paths of files that are already right."""

    files: list[Output]
    bundles: list[tuple[ChainOutput, list[File]]]
    existing_paths: set[Path] = field(default_factory=set)


async def fetch_results(
    connection: Connection,
    chain: Chain,
    folder: Path,
    *,
    force: bool = True,
) -> list[Output]:
    """Write the outputs of a workflow into a folder, and verify them.

    Files have the names that their tools gave them if these are unique. Outputs that are not plain
    files are unpacked by ``unpack_output``. Existing files with the same content do not change.

    Args:
        connection: The connection to the system.
        chain: The chain.
        folder: The folder.
        force: Whether to overwrite existing files with other content.

    Raises:
        FilesExist: Files with other content exist. Nothing was written.
        ServiceError: The system refuses a request or does not answer.
        StorageError: A file cannot be fetched or unpacked.
    """
    outputs = await _list_outputs(connection, chain)
    output_files = [
        (output, [file async for file in connection.operator.iterate_files(output.dataset.uid)])
        for output in outputs
    ]
    plain = [
        (output.name, file)
        for output, files in output_files
        if output.kind is EntryKind.FILE
        for file in files
    ]
    bundles = [(output, files) for output, files in output_files if output.kind is EntryKind.BUNDLE]
    reserved = [
        MANIFEST,
        *(name for output, _ in bundles for name in (output.name, f"{output.name}.json")),
    ]
    counts = Counter([*reserved, *(own_name(file.name) for _, file in plain)])
    preferred_names = [
        own
        if counts[own := own_name(file.name)] == 1
        else delivered_name(own, start=f"{output}-{file.seq:06d}-")
        for output, file in plain
    ]
    names = _unique_names(preferred_names, [file.seq for _, file in plain], reserved)
    files = [
        _plan_output(folder, file, output, name)
        for (output, file), name in zip(plain, names, strict=True)
    ]
    return await _write(connection, _Plan(files, bundles), folder, force=force)


async def _list_outputs(connection: Connection, chain: Chain) -> list[ChainOutput]:
    return (await connection.operator.list_outputs(chain.uid)).outputs


async def fetch_dataset(
    connection: Connection,
    dataset: Dataset,
    folder: Path,
    *,
    force: bool,
) -> list[Output]:
    """Write all files of a data set into a folder, and verify them.

    Files have their own names if these are all different, and otherwise those of the catalogue.
    Bundles are not unpacked. Everything else is as in ``fetch_results``.
    """
    dataset_files = [file async for file in connection.operator.iterate_files(dataset.uid)]
    counts = Counter([MANIFEST, *(own_name(file.name) for file in dataset_files)])
    clash = any(count > 1 for count in counts.values())
    names = _unique_names(
        [file.name if clash else own_name(file.name) for file in dataset_files],
        [file.seq for file in dataset_files],
        [MANIFEST],
    )
    files = [
        _plan_output(folder, file, "", name)
        for file, name in zip(dataset_files, names, strict=True)
    ]
    return await _write(connection, _Plan(files, []), folder, force=force)


async def fetch_partial(
    connection: Connection, partial: PartialOutputs, folder: Path, *, force: bool
) -> list[Output]:
    """Write what the steps of a chain made and still exists, with a folder for each step and port.

    Everything else is as in ``fetch_dataset``.
    """
    files: list[Output] = []
    for part in partial.outputs:
        if part.dataset is None or not part.readable:
            continue
        inside = [file async for file in connection.operator.iterate_files(part.dataset.uid)]
        names = _unique_names(
            [own_name(file.name) for file in inside], [file.seq for file in inside], []
        )
        files += [
            _plan_output(folder, file, part.folder, f"{part.folder}/{name}")
            for file, name in zip(inside, names, strict=True)
        ]
    return await _write(connection, _Plan(files, []), folder, force=force)


def _unique_names(
    preferred_names: Sequence[str], seqs: Sequence[int], reserved_names: Sequence[str]
) -> list[str]:
    """Return a different name for each file.

    Files with the same or a reserved name get their number as a prefix.
    """
    counts = Counter([*reserved_names, *preferred_names])
    used_names, names = set(counts), list[str]()
    for name, seq in zip(preferred_names, seqs, strict=True):
        if counts[name] > 1:
            while name in used_names:
                name = delivered_name(name, start=f"{seq:06d}-")  # noqa: PLW2901 - until nothing has it
            used_names.add(name)
        names.append(name)
    return names


async def _write(
    connection: Connection,
    plan: _Plan,
    folder: Path,
    *,
    force: bool,
) -> list[Output]:
    await asyncio.to_thread(_check_existing, plan, folder, force)
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    missing = [
        (output.file, output.path)
        for output in plan.files
        if output.path not in plan.existing_paths
    ]
    await fetch_files(connection, missing)
    outputs = list(plan.files)
    for output, files in plan.bundles:
        outputs += await _unpack(connection, output, files, folder)
    return outputs


def _check_existing(plan: _Plan, folder: Path, force: bool) -> None:
    conflicting: set[Path] = set()
    for planned in plan.files:
        if planned.path.exists() or planned.path.is_symlink():
            (plan.existing_paths if _has_same_content(planned) else conflicting).add(planned.path)
    for output, _ in plan.bundles:
        conflicting |= {
            path for path in (folder / output.name, folder / f"{output.name}.json") if path.exists()
        }
    if conflicting and not force:
        raise FilesExist(folder, conflicting)


def _has_same_content(output: Output) -> bool:
    try:
        storage.verify(
            storage.build_local_url(output.path), checksum=output.checksum, size=output.size
        )
    except storage.StorageError:
        return False
    return not output.path.is_symlink()


async def _unpack(
    connection: Connection,
    output: ChainOutput,
    files: Sequence[File],
    folder: Path,
) -> list[Output]:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".bundles-") as temporary:
        fetched = [(file, Path(temporary) / str(number)) for number, file in enumerate(files)]
        await fetch_files(connection, fetched)
        unpacked_files = await asyncio.to_thread(unpack_output, fetched, output, folder)
    return [
        Output(
            path=unpacked_file.path,
            name=unpacked_file.path.relative_to(folder).as_posix(),
            file=unpacked_file.file,
            output=output.name,
            size=unpacked_file.path.stat().st_size,
            checksum=storage.compute_checksum(unpacked_file.path),
        )
        for unpacked_file in unpacked_files
    ]


def _plan_output(folder: Path, file: File, output: str, name: str) -> Output:
    return Output(folder / name, name, file, output, file.size, file.checksum)


def write_manifest(
    folder: Path,
    outputs: Sequence[Output],
    *,
    chain: Chain,
    failed_jobs: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write ``manifest.json``: name, size, SHA-256 and origin of each output, in order.

    It also lists the failed jobs, whose results are missing. The template has no version if it came
    with the run.
    """
    return _write_manifest(folder, _manifest_header(chain, failed_jobs), outputs)


def _manifest_header(chain: Chain, failed_jobs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "chain": str(chain.uid),
        "template": {"name": chain.template, "version": chain.template_version or None},
        "dataset": {"uid": str(chain.dataset_uid), "name": chain.dataset_name},
        "parameters": chain.params | {name: str(ref) for name, ref in chain.secrets.items()},
        **({"failed_jobs": list(failed_jobs)} if failed_jobs else {}),
    }


def write_partial_manifest(
    folder: Path,
    outputs: Sequence[Output],
    *,
    partial: PartialOutputs,
    failed_jobs: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write the manifest of an incomplete chain.

    It also says how the chain and its steps ended, and what is missing and why.
    """
    chain = partial.chain
    about = _manifest_header(chain, failed_jobs) | {
        "partial": True,
        "state": chain.state,
        "reason": chain.reason,
        "steps": [
            {"name": step.name, "state": step.state, "reason": step.reason} for step in chain.steps
        ],
        "missing": [
            {"step": part.step, "output": part.port, "folder": part.folder, "why": part.missing}
            for part in partial.outputs
            if part.missing
        ],
    }
    return _write_manifest(folder, about, outputs)


def write_dataset_manifest(folder: Path, outputs: Sequence[Output], *, dataset: Dataset) -> Path:
    """Write the manifest of a data set, with its metadata."""
    about = {
        "dataset": {
            "uid": str(dataset.uid),
            "name": dataset.name,
            "type": dataset.type,
            "meta": dataset.meta,
        }
    }
    return _write_manifest(folder, about, outputs)


def require_own_manifest(folder: Path, key: str, uid: str, *, force: bool) -> None:
    """Check that an existing manifest belongs to this chain or data set.

    Args:
        folder: The folder of the manifest.
        key: ``chain`` or ``dataset``.
        uid: The uid of the chain or data set.
        force: Whether to overwrite any manifest.

    Raises:
        FilesExist: The manifest belongs to something else.
    """
    path = folder / MANIFEST
    if force or not path.exists():
        return
    try:
        manifest = json.loads(path.read_text())
        owner_uid = (
            manifest.get("chain")
            if key == "chain"
            else None
            if "chain" in manifest
            else manifest["dataset"]["uid"]
        )
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        owner_uid = None
    if owner_uid != uid:
        raise FilesExist(folder, [path])


def _write_manifest(folder: Path, about: dict[str, Any], outputs: Sequence[Output]) -> Path:
    manifest = {**about, "outputs": [_entry(output) for output in outputs]}
    path = folder / MANIFEST
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return path


def _entry(output: Output) -> dict[str, Any]:
    return {
        "name": output.name,
        **({"output": output.output} if output.output else {}),
        "size": output.size,
        "sha256": output.checksum.removeprefix("sha256:"),
        "origin": output.file.origin,
        "meta": output.file.meta,
    }
