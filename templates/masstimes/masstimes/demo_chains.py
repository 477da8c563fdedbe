"""The chains of `make masstimes-demo`: their templates, their start and their outputs."""

import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from uuid import UUID

from sluice.clientkit.connection import Connection
from sluice.clientkit.output import out
from sluice.clientkit.template_files import read_template_files
from sluice.clientkit.transfer.download import fetch_files
from sluice.clientkit.transfer.output_bundles import unpack_output
from sluice.clientkit.transfer.parameter_files import local_files, upload_parameter_files
from sluice.clientkit.transfer.upload import upload_files
from sluice.clientkit.watch.chain import follow_chain
from sluice.clients.operator import HumanStepKey
from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import ChainState, EntryKind
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.human_tasks.supervision import AskBrowsers, HumanStep, NewLink

#: The template and the step of the human task.
ANNOTATE, ASK = "annotate", "ask"
_STEP_KEY = HumanStepKey(EVERYONE, ANNOTATE, ASK)
#: Seconds until a chain that starts automatically must have started.
_MAX_WAIT = 120.0
_POLL_SECONDS = 0.25


class DemoError(Exception):
    """The demonstration cannot continue. The message is for its user."""


async def publish(connection: Connection, file: Path, **replacements: str) -> None:
    """Publish a template. ``replacements`` are values that replace 1000 in its file, by key."""
    files = await asyncio.to_thread(read_template_files, [file])
    template = files.new(None)
    if replacements:
        texts = dict(template.files or {})
        for name, text in texts.items():
            if name == template.main:
                for old, other in replacements.items():
                    text = text.replace(f"{old}: 1000", f"{old}: {other}")  # noqa: PLW2901
                texts[name] = text
        template = template.model_copy(update={"files": texts})
    await connection.operator.store_template(template)


async def start_crawl(
    connection: Connection, parishes: Sequence[Path], name: str, *, known_pages: Path | None = None
) -> Chain:
    """Upload the parishes, and return the chain that crawls them.

    The template starts it automatically for data sets of this type. With ``known_pages``, the chain
    is requested.
    """
    meta: dict[str, Any] = {"type": "mt-parishes", "contact": "", "delays": 0.1, "timeout": 5.0}
    new_dataset = NewDataset(name=name, meta=meta, on_demand=known_pages is not None)
    dataset = await upload_files(connection, parishes, dataset=new_dataset)
    if known_pages is None:
        return await wait_for_chain(connection, "crawl", dataset_uid=dataset.uid)
    template = await connection.operator.get_template("crawl")
    params: dict[str, Any] = {"known": str(known_pages)}
    files = local_files(template.plan, params)
    params = await upload_parameter_files(connection, params, files, name_prefix=name)
    return await connection.operator.request_chain(dataset.uid, "crawl", params=params)


async def wait_for_chain(
    connection: Connection, template: str, *, dataset_uid: UUID | None = None
) -> Chain:
    """Wait for a chain of this template, and return the newest.

    Raises:
        DemoError: No chain has started in time.
    """
    deadline = time.monotonic() + _MAX_WAIT
    while time.monotonic() < deadline:
        for chain in (await connection.operator.list_chains(limit=50)).chains:
            if chain.template == template and dataset_uid in {None, chain.dataset_uid}:
                return chain
        await asyncio.sleep(_POLL_SECONDS)
    raise DemoError(f"no chain of {template} has begun within {_MAX_WAIT:.0f} s")


async def wait_until_finished(connection: Connection, chain: Chain) -> Chain:
    """Wait until the chain has finished.

    Raises:
        DemoError: The chain does not finish.
    """
    chain = await follow_chain(connection, chain, on_look=lambda *_: None)
    if chain.state is not ChainState.FINISHED:
        raise DemoError(f"the chain of {chain.template} is {chain.state}: {chain.reason}")
    return chain


async def fetch_outputs(connection: Connection, chain: Chain, folder: Path) -> None:
    """Download each output into a folder of its name."""
    for output in (await connection.operator.list_outputs(chain.uid)).outputs:
        files = [file async for file in connection.operator.iterate_files(output.dataset.uid)]
        if output.kind is EntryKind.FILE:
            place = folder / output.name
            await fetch_files(connection, [(file, place / own_name(file.name)) for file in files])
            continue
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".bundles-") as bundle_folder:
            bundles = [
                (file, Path(bundle_folder) / str(number)) for number, file in enumerate(files)
            ]
            await fetch_files(connection, bundles)
            await asyncio.to_thread(unpack_output, bundles, output, folder)


async def create_link(connection: Connection) -> str:
    """Return a link for annotators.

    Raises:
        DemoError: The step has no items in time.
    """
    deadline = time.monotonic() + _MAX_WAIT
    while time.monotonic() < deadline:
        with suppress(NotFound):  # the service does not know of the step yet
            link = await connection.operator.create_ask_link(*_STEP_KEY, NewLink(days=1))
            return urljoin(connection.url, str(link.url))
        await asyncio.sleep(_POLL_SECONDS)
    raise DemoError(f"step {ASK} of {ANNOTATE} asks no questions")


async def get_progress(connection: Connection) -> HumanStep:
    """Return the progress of the human task."""
    [step] = (await connection.operator.list_human_steps()).steps
    return step


async def get_browsers(connection: Connection) -> AskBrowsers:
    """Return the browsers of the annotators."""
    return await connection.operator.list_ask_browsers(*_STEP_KEY)


async def print_progress_forever(connection: Connection, every: float = 10.0) -> None:
    """Print the progress of the annotators until canceled."""
    with suppress(asyncio.CancelledError):
        while True:
            await asyncio.sleep(every)
            step = await get_progress(connection)
            out.print(
                f"  {step.done} of {step.waiting + step.done} items are decided,"
                f" by {step.answer_count} answers;"
                f" {step.excluded} of {step.browsers} browsers excluded"
            )


def read_summaries(folder: Path) -> list[dict[str, Any]]:
    """Return how the crawl of each parish ended."""
    return [json.loads(path.read_bytes()) for path in sorted((folder / "summaries").glob("*.json"))]
