"""`sluice chain get` and `sluice dataset get`: download of results into a folder."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from sluice.cli.object_lookup import resolve_chain_uid, resolve_dataset_uid
from sluice.cli.options import ChainArgument, DatasetArgument, ForceOption, OutOption
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.output import err, print_files, print_json
from sluice.clientkit.transfer import results
from sluice.clientkit.transfer.failed_jobs import fetch_failed_jobs
from sluice.clientkit.transfer.output_folder import require_folder
from sluice.clientkit.transfer.results import Output
from sluice.clientkit.watch.chain import failed_jobs, failures_json
from sluice.contracts.chains.chains import Chain, ChainOutput
from sluice.contracts.common.numbers import format_count, size_text
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import ChainState
from sluice.contracts.jobs.tasks import Job
from sluice.process.termination import Terminated
from sluice.text.visible_text import quoted


@with_system
def get_chain(
    system: System,
    chain: ChainArgument,
    *,
    folder: OutOption = Path("out"),
    force: ForceOption = False,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial",
            help="Copy the existing results of all steps, each in a folder, and all logs. The"
            " chain must have ended, but not necessarily finished.",
        ),
    ] = False,
) -> None:
    """Copy the outputs of a finished chain into a folder, like `sluice run`.

    Every file is checked against its checksum. Files come from their storage if it is mounted on
    this machine, and otherwise over HTTP. Existing files stay as they are, so the same command
    continues after an interruption.
    """
    uid = resolve_chain_uid(system, chain)
    failed_files: list[Path] = []

    async def get(connection: Connection) -> list[Output]:
        require_folder(folder)
        if partial:
            return await _get_partial(connection, uid, folder, force=force)
        chain_outputs = await connection.operator.list_outputs(uid)
        _require_outputs(chain_outputs.chain, chain_outputs.outputs)
        await asyncio.to_thread(
            results.require_own_manifest, folder, "chain", str(uid), force=force
        )
        outputs = await results.fetch_results(connection, chain_outputs.chain, folder, force=force)
        failed = await _list_failed_jobs(connection, uid)
        failed_files.extend(
            await fetch_failed_jobs(connection, chain_outputs.chain, failed, folder)
        )
        results.write_manifest(
            folder, outputs, chain=chain_outputs.chain, failed_jobs=failures_json(failed)
        )
        return outputs

    _print_summary(_ask(system, get), folder, failed_files, as_json=system.as_json)


@with_system
def get_dataset(
    system: System,
    dataset: DatasetArgument,
    *,
    folder: OutOption = Path("out"),
    force: ForceOption = False,
) -> None:
    """Copy all files of a data set into a folder, like `sluice chain get`.

    Every file is checked against its checksum. Directories and other values that are not plain
    files stay bundles (tar), which `sluice chain get` unpacks.
    """
    uid = resolve_dataset_uid(system, dataset)

    async def get(connection: Connection) -> list[Output]:
        require_folder(folder)
        details = await connection.operator.get_dataset(uid)
        if not details.usable:
            raise Conflict(
                f"data set {quoted(details.name)} is {details.state}: only one that is complete and"
                " not deleted can be copied"
            )
        await asyncio.to_thread(
            results.require_own_manifest, folder, "dataset", str(uid), force=force
        )
        outputs = await results.fetch_dataset(connection, details, folder, force=force)
        results.write_dataset_manifest(folder, outputs, dataset=details)
        return outputs

    _print_summary(_ask(system, get), folder, as_json=system.as_json)


def _ask(
    system: System, send_requests: Callable[[Connection], Awaitable[list[Output]]]
) -> list[Output]:
    """Copy files. If a signal ends the command, it says how to continue."""
    try:
        return system.ask(send_requests)
    except Terminated as ended:
        ended.consequence = "copied files are kept; the same command copies the rest"
        raise


async def _get_partial(
    connection: Connection, uid: UUID, folder: Path, *, force: bool
) -> list[Output]:
    partial = await connection.operator.list_partial_outputs(uid)
    if not partial.chain.state.final:
        raise Conflict(
            f"the chain is {partial.chain.state}: its outputs can be read when it has ended"
            f" (sluice chain watch {uid}, sluice chain cancel {uid})"
        )
    await asyncio.to_thread(results.require_own_manifest, folder, "chain", str(uid), force=force)
    outputs = await results.fetch_partial(connection, partial, folder, force=force)
    failed = await _list_failed_jobs(connection, uid)
    results.write_partial_manifest(
        folder, outputs, partial=partial, failed_jobs=failures_json(failed)
    )
    for part in partial.outputs:
        if part.missing:
            err.print(f"{part.label}: {part.missing}")
    return outputs


async def _list_failed_jobs(connection: Connection, chain: UUID) -> list[tuple[str, Job]]:
    return await failed_jobs(
        connection, (await connection.operator.list_tasks(chain_uid=chain)).tasks
    )


def _require_outputs(chain: Chain, outputs: list[ChainOutput]) -> None:
    """Check that a chain has outputs to copy.

    Raises:
        Conflict: It has none. The message says what to do instead.
    """
    if not chain.state.final:
        raise Conflict(
            f"the chain is {chain.state}: there are results when it has finished (sluice chain"
            f" watch {chain.uid})"
        )
    if chain.state is not ChainState.FINISHED or not outputs:
        raise Conflict(
            f"the chain is {chain.state}: it has no outputs"
            + (f" ({chain.reason})" if chain.reason else "")
            + "; what its steps gave: --partial"
        )
    deleted_outputs = [output.name for output in outputs if not output.dataset.usable]
    if deleted_outputs:
        rest = [str(output.dataset.uid) for output in outputs if output.dataset.usable]
        others = f"; of the others, get the data sets: {', '.join(rest)}" if rest else ""
        raise Conflict(f"output {', '.join(deleted_outputs)} of the chain has been deleted{others}")


def _print_summary(
    outputs: list[Output], folder: Path, failed_files: Sequence[Path] = (), *, as_json: bool
) -> None:
    if as_json:
        files = [
            {
                "name": output.name,
                "size": output.size,
                "sha256": output.checksum.removeprefix("sha256:"),
            }
            for output in outputs
        ]
        print_json({"folder": str(folder), "files": files})
        return
    paths = [*(output.path for output in outputs), *failed_files]
    total = print_files(paths)
    err.print(f"{format_count(len(paths), 'file')}, {size_text(total)}, in {folder}")
