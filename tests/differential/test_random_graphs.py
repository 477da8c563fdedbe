"""Random templates give the same answer with cwltool and with Sluice.

``SLUICE_GRAPHS`` is the number of graphs (30). A longer search is ``SLUICE_GRAPHS=5000 make
test-long PYTEST_ARGS="-k graphs"``.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice.cli.connection import Connection, connected
from sluice.cli.transfer.inputs import list_entries
from sluice.cli.transfer.upload import upload_files
from sluice.contracts.chains.chains import Chain
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.plan import DataEntries
from sluice.contracts.templates.templates import NewTemplate, Template
from tests.differential.answers import answer_of_chain, answer_of_order
from tests.differential.graphs import SHAPES, DrawnWorkflow, graphs
from tests.differential.reference import Reference, order_of
from tests.draws import examples
from tests.e2e.systems import LiveSystem

GRAPHS = int(os.environ.get("SLUICE_GRAPHS") or examples(30))
#: Number of graphs that are drawn and run together, which costs less for each.
BATCH_SIZE = min(10, GRAPHS)
#: This many graphs have every shape.
GRAPHS_FOR_EVERY_SHAPE = 150
#: The shape of a warm worker, and the number of such graphs that also run with `sluice cwl-runner`.
KEEPS_LOADED, MAX_BY_RUNNER = "stay_loaded", 5

pytestmark = [pytest.mark.xdist_group("differential"), pytest.mark.timeout(600 + 5 * GRAPHS)]

TEXTS = {
    "a.txt": "pear\napple\nfig\n",
    "b-2_x.txt": "",
    "c.txt": "Zebra\n9 lives\nan apple\nan apple\n",
    "d.txt": "xyz",
    "e.txt": "".join(f"line {number}\n" for number in range(30)),
}
#: The files of each data set; graphs that run together share one.
DATASETS = (("a.txt",), ("b-2_x.txt", "c.txt", "d.txt"), tuple(TEXTS))


@dataclass(frozen=True, slots=True)
class GeneratedInputs:
    """Files, and the data set that contains them."""

    files: Sequence[Path]
    dataset: UUID


@dataclass(frozen=True, slots=True)
class Bench:
    url: str
    texts: Sequence[GeneratedInputs]
    extra: GeneratedInputs
    reference: Reference
    folder: Path


@pytest.fixture(scope="module")
def bench(system: LiveSystem, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("graphs")
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (extra := folder / "extra.list").write_text("of all\n")
    with Reference() as reference:
        texts = [
            asyncio.run(_bring_in(system.url, [folder / name for name in names]))
            for names in DATASETS
        ]
        yield Bench(
            system.url, texts, asyncio.run(_bring_in(system.url, [extra])), reference, folder
        )


async def _bring_in(url: str, files: Sequence[Path]) -> GeneratedInputs:
    async with connected(url) as connection:
        new = NewDataset(name=f"given-{uuid4().hex}", on_demand=True)
        dataset = await upload_files(
            connection,
            list_entries(files, DataEntries()),
            dataset=new,
        )
        return GeneratedInputs(files, dataset.uid)


@pytest.mark.long("test_same_answer.py has fixed templates of the same features")
@pytest.mark.hypothesis
# The warning about ten graphs would hide the actual error.
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_random_graphs_give_the_same_answer_as_cwltool(bench: Bench) -> None:
    answered: list[bool] = []
    by_runner: list[DrawnWorkflow] = []

    @settings(
        max_examples=GRAPHS // BATCH_SIZE, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(
        drawn=st.lists(graphs(), min_size=BATCH_SIZE, max_size=BATCH_SIZE),
        texts=st.sampled_from(bench.texts),
    )
    def compare(drawn: list[DrawnWorkflow], texts: GeneratedInputs) -> None:
        documents = [graph.document for graph in drawn]
        with ThreadPoolExecutor(1) as aside:
            answers = aside.submit(lambda: [_expected(bench, graph, texts) for graph in documents])
            results = asyncio.run(_carry_all(bench, documents, texts))
            expected = answers.result()
        for graph, expectation, got in zip(documents, expected, results, strict=True):
            assert got == expectation, f"{len(texts.files)} files: {json.dumps(graph)}"
        for one, expectation in zip(drawn, expected, strict=True):
            if KEEPS_LOADED in one.shapes and len(by_runner) < MAX_BY_RUNNER:
                by_runner.append(one)
                for document in (one.document, without_warm(one.document)):
                    got = _by_our_runner(bench, document, texts)
                    assert got == expectation, f"cwl-runner, {len(texts.files)} files: {document}"
        answered.extend(any(answer.values()) for answer in expected)

    compare()
    assert len(answered) >= GRAPHS // BATCH_SIZE * BATCH_SIZE
    assert sum(answered) > 0.8 * len(answered), "graphs without outputs prove nothing"
    assert by_runner or len(answered) < GRAPHS_FOR_EVERY_SHAPE


def test_every_shape_is_drawn() -> None:
    shapes: set[str] = set()

    @settings(
        max_examples=GRAPHS_FOR_EVERY_SHAPE, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(drawn=graphs())
    def note(drawn: DrawnWorkflow) -> None:
        shapes.update(drawn.shapes)

    note()
    assert shapes == SHAPES


def without_warm(graph: dict[str, Any]) -> dict[str, Any]:
    """Return the graph with every tool started anew for each job."""
    steps = {
        name: {key: value for key, value in step.items() if key != "sluice:warm"}
        for name, step in graph["steps"].items()
    }
    return {**graph, "steps": steps}


def _by_our_runner(bench: Bench, graph: dict[str, Any], texts: GeneratedInputs) -> Any:
    """Return the answer of `sluice cwl-runner`, which has warm workers, too."""
    folder, job_order = _folder_with(bench, graph, texts)
    (folder / "order.json").write_text(json.dumps(job_order))
    command = ["--quiet", "--url", bench.url, "workflow.cwl", "order.json"]
    done = subprocess.run(
        [Path(sys.executable).with_name("sluice-cwl-runner"), *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return answer_of_order(json.loads(done.stdout))


def _expected(bench: Bench, graph: dict[str, Any], texts: GeneratedInputs) -> Any:
    folder, job_order = _folder_with(bench, graph, texts)
    return answer_of_order(bench.reference.run(folder / "workflow.cwl", job_order, folder=folder))


def _folder_with(
    bench: Bench, graph: dict[str, Any], texts: GeneratedInputs
) -> tuple[Path, dict[str, Any]]:
    """Return a folder with the graph as ``workflow.cwl``, and its job order."""
    folder = bench.folder / uuid4().hex
    folder.mkdir()
    (folder / "workflow.cwl").write_text(json.dumps(graph))
    extra = {"class": "File", "location": bench.extra.files[0].as_uri()}
    params = {"extra": extra} if "extra" in graph["inputs"] else {}
    return folder, {**order_of(texts.files), **params}


async def _carry_all(
    bench: Bench, drawn: Sequence[dict[str, Any]], texts: GeneratedInputs
) -> list[Any]:
    async with connected(bench.url) as connection:
        chain_requests = await asyncio.gather(
            *(_request(connection, bench, graph, texts) for graph in drawn)
        )
        # Wait for one chain at a time: the others continue, and polling all of them takes time.
        return [
            await answer_of_chain(connection, chain, template) for chain, template in chain_requests
        ]


async def _request(
    connection: Connection, bench: Bench, graph: dict[str, Any], texts: GeneratedInputs
) -> tuple[Chain, Template]:
    name = f"graph-{uuid4().hex}"
    template = await connection.operator.store_template(
        NewTemplate(name=name, cwl=json.dumps(graph))
    )
    extra = {"class": "File", "dataset": str(bench.extra.dataset), "retention": "keep"}
    params = {"extra": extra} if "extra" in graph["inputs"] else {}
    return await connection.operator.request_chain(
        texts.dataset, template.name, params=params
    ), template
