"""The chains of `make masstimes-demo`: their templates, their start and their outputs."""

from __future__ import annotations

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

from sluice.cli.connection import Connection
from sluice.cli.output import out
from sluice.cli.template_files import read_template_files
from sluice.cli.transfer.download import fetch_files
from sluice.cli.transfer.output_bundles import unpack_output
from sluice.cli.transfer.parameter_files import local_files, upload_parameter_files
from sluice.cli.transfer.upload import upload_files
from sluice.cli.watch.chain import follow_chain
from sluice.clients.operator.asking import HumanStepKey
from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import ChainState, EntryKind
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.human_tasks.asking_watch import AskDevices, HumanStep, NewLink

#: The template and the step of the human task.
ANNOTATE, ASK = "annotate", "ask"
_ASKING = HumanStepKey(EVERYONE, ANNOTATE, ASK)
#: Seconds until a chain that starts by itself must have started.
_PATIENCE = 120.0
_LOOK = 0.25


class WentWrong(Exception):
    """The demonstration cannot continue. The message is for its user."""


async def publish(connection: Connection, file: Path, **replaced: str) -> None:
    """Publish a template. ``replaced`` are values that replace 1000 in its file, by key."""
    files = await asyncio.to_thread(read_template_files, [file])
    new = files.new(None)
    if replaced:
        texts = dict(new.files or {})
        for name, text in texts.items():
            if name == new.main:
                for old, other in replaced.items():
                    text = text.replace(f"{old}: 1000", f"{old}: {other}")  # noqa: PLW2901
                texts[name] = text
        new = new.model_copy(update={"files": texts})
    await connection.operator.store_template(new)


async def begin_crawl(
    connection: Connection, parishes: Sequence[Path], name: str, *, known: Path | None = None
) -> Chain:
    """Upload the parishes, and return the chain that crawls them.

    The template starts it by itself for data sets of this type. With ``known`` pages, the chain is
    requested.
    """
    meta: dict[str, Any] = {"type": "mt-parishes", "contact": "", "delays": 0.1, "timeout": 5.0}
    new = NewDataset(name=name, meta=meta, on_demand=known is not None)
    dataset = await upload_files(connection, parishes, dataset=new)
    if known is None:
        return await begun(connection, "crawl", of=dataset.uid)
    template = await connection.operator.template("crawl")
    params: dict[str, Any] = {"known": str(known)}
    files = local_files(template.plan, params)
    params = await upload_parameter_files(connection, params, files, beside=name)
    return await connection.operator.request_chain(dataset.uid, "crawl", params=params)


async def begun(connection: Connection, template: str, *, of: UUID | None = None) -> Chain:
    """Wait for a chain of this template, and return the newest.

    Raises:
        WentWrong: No chain has started in time.
    """
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        for chain in (await connection.operator.chains(limit=50)).chains:
            if chain.template == template and of in {None, chain.dataset_uid}:
                return chain
        await asyncio.sleep(_LOOK)
    raise WentWrong(f"no chain of {template} has begun within {_PATIENCE:.0f} s")


async def ended(connection: Connection, chain: Chain) -> Chain:
    """Wait until the chain has finished.

    Raises:
        WentWrong: The chain does not finish.
    """
    chain = await follow_chain(connection, chain, on_look=lambda *_: None)
    if chain.state is not ChainState.FINISHED:
        raise WentWrong(f"the chain of {chain.template} is {chain.state}: {chain.reason}")
    return chain


async def fetch(connection: Connection, chain: Chain, folder: Path) -> None:
    """Download each output into a folder of its name."""
    for output in (await connection.operator.outputs(chain.uid)).outputs:
        files = [file async for file in connection.operator.all_files(output.dataset.uid)]
        if output.kind is EntryKind.FILE:
            place = folder / output.name
            await fetch_files(connection, [(file, place / own_name(file.name)) for file in files])
            continue
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".bundles-") as aside:
            bundles = [(file, Path(aside) / str(number)) for number, file in enumerate(files)]
            await fetch_files(connection, bundles)
            await asyncio.to_thread(unpack_output, bundles, output, folder)


async def make_link(connection: Connection) -> str:
    """Return a link for annotators.

    Raises:
        WentWrong: The step has no items in time.
    """
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        with suppress(NotFound):  # the service does not know of the step yet
            made = await connection.operator.make_ask_link(_ASKING, NewLink(days=1))
            return urljoin(connection.url, str(made.url))
        await asyncio.sleep(_LOOK)
    raise WentWrong(f"step {ASK} of {ANNOTATE} asks nothing")


async def progress(connection: Connection) -> HumanStep:
    """Return the progress of the human task."""
    [step] = (await connection.operator.asking_steps()).steps
    return step


async def devices(connection: Connection) -> AskDevices:
    """Return the browsers of the annotators."""
    return await connection.operator.ask_devices(_ASKING)


async def tell_always(connection: Connection, every: float = 10.0) -> None:
    """Print the progress of the annotators until canceled."""
    with suppress(asyncio.CancelledError):
        while True:
            await asyncio.sleep(every)
            step = await progress(connection)
            out.print(
                f"  {step.done} of {step.waiting + step.done} items are decided,"
                f" by {step.given} answers; {step.excluded} of {step.devices} browsers excluded"
            )


def summaries(folder: Path) -> list[dict[str, Any]]:
    """Return how the crawl of each parish ended."""
    return [json.loads(path.read_bytes()) for path in sorted((folder / "summaries").glob("*.json"))]
