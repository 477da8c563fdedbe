"""Runs of a data set through a template on a running system, with their times."""

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from sluice.clientkit.connection import connected
from sluice.clientkit.transfer.results import fetch_results
from sluice.clientkit.transfer.upload import upload_files
from sluice.clientkit.watch.chain import follow_chain
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.templates import NewTemplate, Template


@dataclass(frozen=True, slots=True)
class FinishedChain:
    """A finished chain with its times.

    ``registered`` are the seconds until the data set was registered and closed. ``seconds`` are
    those from the chain's beginning to its end with all outputs uploaded, by the system's own
    clock.
    """

    registered: float
    seconds: float
    chain: Chain
    template: Template


def make_files(folder: Path, count: int) -> list[Path]:
    """Make files of 1 KiB that differ from each other and are the same in every run."""
    folder.mkdir(parents=True)
    chooser = random.Random(1)  # noqa: S311 - the content only has to differ
    paths = [folder / f"file-{number:06d}.txt" for number in range(count)]
    for path in paths:
        path.write_bytes(chooser.randbytes(1024))
    return paths


async def run_workflow(
    url: str, workflow: str, inputs: Sequence[Path], *, name: str
) -> FinishedChain:
    """Run files through a workflow, stored as the template ``name``.

    Raises:
        ServiceError: The chain does not finish.
    """
    return await run_template(url, NewTemplate(name=name, cwl=workflow), inputs)


async def run_template(
    url: str,
    new: NewTemplate,
    inputs: Sequence[Path],
    *,
    on_look: Callable[[Chain, Sequence[ChainTask]], None] = lambda chain, tasks: None,
) -> FinishedChain:
    """Run files through a template. ``on_look`` is as in ``follow_chain``.

    Raises:
        ServiceError: The chain does not finish.
    """
    async with connected(url) as connection:
        template = await connection.operator.store_template(new)
        started = time.perf_counter()
        new_dataset = NewDataset(name=f"{new.name}-{uuid4().hex[:12]}", on_demand=True)
        dataset = await upload_files(connection, inputs, dataset=new_dataset)
        registered = time.perf_counter() - started
        chain = await connection.operator.request_chain(dataset.uid, template.name)
        chain = await follow_chain(connection, chain, on_look=on_look)
    if chain.state is not ChainState.FINISHED or chain.ended_at is None:
        raise ServiceError(f"the chain ended {chain.state}: {chain.reason}")
    seconds = (chain.ended_at - chain.created_at).total_seconds()
    return FinishedChain(registered, seconds, chain, template)


async def read_output(url: str, finished_chain: FinishedChain) -> str:
    """Return the text of the chain's only output file."""
    async with connected(url) as connection:
        with tempfile.TemporaryDirectory() as folder:
            [output] = await fetch_results(connection, finished_chain.chain, Path(folder))
            return output.path.read_text()
