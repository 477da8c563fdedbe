"""Random workflows over all types of CWL give the same answer with cwltool and with Sluice.

A quarter of ``SLUICE_GRAPHS`` is the number of workflows (20).
"""

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.differential.answers import Answer, convert_output_object, run_job_order
from tests.differential.reference import CwltoolProcess
from tests.differential.typed_graphs import TypedWorkflow, draw_typed_workflow
from tests.draws import count_examples
from tests.e2e.systems import LiveSystem

WORKFLOWS = int(os.environ.get("SLUICE_GRAPHS") or count_examples(80)) // 4
#: Number of workflows that are drawn and run together, which costs less for each.
BATCH_SIZE = min(10, WORKFLOWS)

pytestmark = [pytest.mark.xdist_group("differential"), pytest.mark.timeout(600 + 5 * WORKFLOWS)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("typed")
    for name, text in {"a.txt": "a\n", "b c.txt": "", "d/x.txt": "x", "e/f/y.txt": "y"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [folder / name for name in ("a.txt", "b c.txt", "d", "e")]


@pytest.mark.long("test_same_answer.py has fixed templates of the same features")
@pytest.mark.hypothesis
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_random_workflows_of_all_types_give_the_same_answer_as_cwltool(
    system: LiveSystem, files: list[Path], tmp_path: Path
) -> None:
    features: set[str] = set()
    answered: list[bool] = []

    @settings(
        max_examples=max(1, WORKFLOWS // BATCH_SIZE),
        deadline=None,
        # A failure shows its workflow, and a smaller batch takes minutes to find.
        phases=[phase for phase in Phase if phase not in {Phase.shrink, Phase.explain}],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        drawn_workflows=st.lists(
            draw_typed_workflow(files), min_size=BATCH_SIZE, max_size=BATCH_SIZE
        )
    )
    def compare(drawn_workflows: list[TypedWorkflow]) -> None:
        folders = [_write_workflow(tmp_path, workflow) for workflow in drawn_workflows]
        with CwltoolProcess() as reference, ThreadPoolExecutor(1) as executor:
            answers = executor.submit(
                lambda: [
                    _run_with_cwltool(reference, folder, workflow)
                    for folder, workflow in zip(folders, drawn_workflows, strict=True)
                ]
            )
            results = asyncio.run(_run_with_sluice(system.url, folders, drawn_workflows))
            expected = answers.result()
        for workflow, expectation, actual in zip(drawn_workflows, expected, results, strict=True):
            description = f"{json.dumps(workflow.document)}\norder: {json.dumps(workflow.order)}"
            answered.append(expectation is not None)
            if expectation is None:
                continue
            if isinstance(actual, BaseException):
                raise AssertionError(description) from actual
            assert actual == expectation, description
            features.update(workflow.features)

    compare()
    assert sum(answered) > 0.7 * len(answered), "workflows that cwltool fails on prove nothing"
    assert features >= {"plain", "scatter", "when"} or WORKFLOWS < 50


def _write_workflow(parent_folder: Path, workflow: TypedWorkflow) -> Path:
    folder = parent_folder / uuid4().hex
    folder.mkdir()
    (folder / f"typed-{folder.name}.cwl").write_text(json.dumps(workflow.document))
    return folder


def _run_with_cwltool(
    reference: CwltoolProcess, folder: Path, workflow: TypedWorkflow
) -> Answer | None:
    """Return the answer of cwltool, or None where it fails, as for lists of records in unions."""
    path = folder / f"typed-{folder.name}.cwl"
    try:
        return convert_output_object(reference.run(path, workflow.order, folder=folder))
    except RuntimeError:
        return None


async def _run_with_sluice(
    url: str, folders: list[Path], drawn_workflows: list[TypedWorkflow]
) -> list[Answer | BaseException]:
    return await asyncio.gather(
        *(
            run_job_order(url, folder / f"typed-{folder.name}.cwl", workflow.order)
            for folder, workflow in zip(folders, drawn_workflows, strict=True)
        ),
        return_exceptions=True,
    )
