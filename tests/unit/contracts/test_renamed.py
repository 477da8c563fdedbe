"""Fields renamed since release 0.1.0 are read under both names, and written for old clients."""

from uuid import uuid4

import httpx
import pytest
from fastapi import APIRouter

from sluice.contracts.chains.chains import ChainPage, ChainTask
from sluice.contracts.common.renamed import ContractWithOldNames, old_names_written
from sluice.contracts.common.states import StepState
from sluice.contracts.data.datasets import DatasetPage, FilePage
from sluice.contracts.jobs.tasks import JobPage
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.callers import for_anybody, open_to_all

TASK = ChainTask(
    task_uid=uuid4(),
    chain_uid=uuid4(),
    step="shout",
    template="wf",
    dataset_name="d",
    state=StepState.FINISHED,
)
OLD, NEW = {"task_id", "template_name", "status"}, {"task_uid", "template", "state"}


def test_answers_with_old_field_names_are_read() -> None:
    with old_names_written():
        written = TASK.model_dump(mode="json")
    assert written.keys() > OLD
    assert not NEW & written.keys()
    assert ChainTask.model_validate(written) == TASK


@pytest.mark.parametrize(
    ("page", "old"),
    [
        (DatasetPage(datasets=[], after="c1"), "cursor"),
        (FilePage(files=[], after="1/a"), "next"),
        (ChainPage(chains=[], after="1"), "next"),
        (JobPage(jobs=[], after="1"), "next"),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, ContractWithOldNames) else given,
)
def test_pages_with_old_field_names_are_read(page: ContractWithOldNames, old: str) -> None:
    with old_names_written():
        written = page.model_dump_json()
    assert f'"{old}":' in written
    assert '"after"' not in written
    assert type(page).model_validate_json(written) == page


@pytest.mark.parametrize(("agent", "names"), [("python-httpx/0.28.1", OLD), ("curl/8.5.0", NEW)])
async def test_clients_of_the_previous_release_get_old_field_names(
    agent: str, names: set[str]
) -> None:
    router = APIRouter()

    @router.get("/task")
    async def task() -> ChainTask:
        return TASK

    app = create_app("x", [open_to_all(router)], health=Health({}), metrics=ServiceMetrics())
    transport = httpx.ASGITransport(for_anybody(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
        answer = (await http.get("/task", headers={"User-Agent": agent})).json()
    assert names < answer.keys()
    assert not ((OLD | NEW) - names) & answer.keys()
