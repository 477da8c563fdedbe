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

from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.transfer.inputs import list_entries
from sluice.clientkit.transfer.upload import upload_files
from sluice.contracts.chains.chains import Chain
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.plan import DataEntries
from sluice.contracts.templates.templates import NewTemplate, Template
from tests.differential.answers import convert_output_object, wait_for_chain_outputs
from tests.differential.graphs import SHAPES, DrawnWorkflow, draw_workflow
from tests.differential.reference import CwltoolProcess, make_job_order
from tests.draws import count_examples
from tests.e2e.systems import LiveSystem

GRAPHS = int(os.environ.get("SLUICE_GRAPHS") or count_examples(30))
#: Number of graphs that are drawn and run together, which costs less for each.
BATCH_SIZE = min(10, GRAPHS)
#: This many graphs have every shape.
GRAPHS_FOR_EVERY_SHAPE = 150
#: The shape of a warm worker, and the number of such graphs that also run with `sluice cwl-runner`.
KEEPS_LOADED, MAX_BY_RUNNER = "map_with_warm_worker", 5

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
class ComparisonSetup:
    url: str
    texts: Sequence[GeneratedInputs]
    extra: GeneratedInputs
    reference: CwltoolProcess
    folder: Path


@pytest.fixture(scope="module")
def setup(
    system: LiveSystem, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ComparisonSetup]:
    folder = tmp_path_factory.mktemp("graphs")
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (extra := folder / "extra.list").write_text("of all\n")
    with CwltoolProcess() as reference:
        texts = [
            asyncio.run(_register_files(system.url, [folder / name for name in names]))
            for names in DATASETS
        ]
        yield ComparisonSetup(
            system.url, texts, asyncio.run(_register_files(system.url, [extra])), reference, folder
        )


async def _register_files(url: str, files: Sequence[Path]) -> GeneratedInputs:
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
def test_random_graphs_give_the_same_answer_as_cwltool(setup: ComparisonSetup) -> None:
    answered: list[bool] = []
    by_runner: list[DrawnWorkflow] = []

    @settings(
        max_examples=GRAPHS // BATCH_SIZE, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(
        workflows=st.lists(draw_workflow(), min_size=BATCH_SIZE, max_size=BATCH_SIZE),
        texts=st.sampled_from(setup.texts),
    )
    def compare(workflows: list[DrawnWorkflow], texts: GeneratedInputs) -> None:
        documents = [graph.document for graph in workflows]
        with ThreadPoolExecutor(1) as executor:
            answers = executor.submit(
                lambda: [_run_with_cwltool(setup, graph, texts) for graph in documents]
            )
            results = asyncio.run(_run_with_sluice(setup, documents, texts))
            expected = answers.result()
        for graph, expectation, actual in zip(documents, expected, results, strict=True):
            assert actual == expectation, f"{len(texts.files)} files: {json.dumps(graph)}"
        for one, expectation in zip(workflows, expected, strict=True):
            if KEEPS_LOADED in one.shapes and len(by_runner) < MAX_BY_RUNNER:
                by_runner.append(one)
                for document in (one.document, remove_warm_workers(one.document)):
                    actual = _run_with_cwl_runner(setup, document, texts)
                    assert actual == expectation, (
                        f"cwl-runner, {len(texts.files)} files: {document}"
                    )
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
    @given(workflow=draw_workflow())
    def collect_shapes(workflow: DrawnWorkflow) -> None:
        shapes.update(workflow.shapes)

    collect_shapes()
    assert shapes == SHAPES


def remove_warm_workers(graph: dict[str, Any]) -> dict[str, Any]:
    """Return the graph with every tool started anew for each job."""
    steps = {
        name: {key: value for key, value in step.items() if key != "sluice:warm"}
        for name, step in graph["steps"].items()
    }
    return {**graph, "steps": steps}


def _run_with_cwl_runner(
    bench: ComparisonSetup, graph: dict[str, Any], texts: GeneratedInputs
) -> Any:
    """Return the answer of `sluice cwl-runner`, which has warm workers, too."""
    folder, job_order = _write_workflow(bench, graph, texts)
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
    return convert_output_object(json.loads(done.stdout))


def _run_with_cwltool(bench: ComparisonSetup, graph: dict[str, Any], texts: GeneratedInputs) -> Any:
    folder, job_order = _write_workflow(bench, graph, texts)
    return convert_output_object(
        bench.reference.run(folder / "workflow.cwl", job_order, folder=folder)
    )


def _write_workflow(
    bench: ComparisonSetup, graph: dict[str, Any], texts: GeneratedInputs
) -> tuple[Path, dict[str, Any]]:
    """Return a folder with the graph as ``workflow.cwl``, and its job order."""
    folder = bench.folder / uuid4().hex
    folder.mkdir()
    (folder / "workflow.cwl").write_text(json.dumps(graph))
    extra = {"class": "File", "location": bench.extra.files[0].as_uri()}
    params = {"extra": extra} if "extra" in graph["inputs"] else {}
    return folder, {**make_job_order(texts.files), **params}


async def _run_with_sluice(
    bench: ComparisonSetup, workflow: Sequence[dict[str, Any]], texts: GeneratedInputs
) -> list[Any]:
    async with connected(bench.url) as connection:
        chain_requests = await asyncio.gather(
            *(_request_chain(connection, bench, graph, texts) for graph in workflow)
        )
        # Wait for one chain at a time: the others continue, and polling all of them takes time.
        return [
            await wait_for_chain_outputs(connection, chain, template)
            for chain, template in chain_requests
        ]


async def _request_chain(
    connection: Connection, bench: ComparisonSetup, graph: dict[str, Any], texts: GeneratedInputs
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
