"""Chains, tasks, jobs and forwarded routes over REST."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from sluice.contracts.chains.chains import ChainListState, RequestChain
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.common.states import ChainState, DatasetState, JobState, StepState, TaskState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.jobs.tasks import BY_REQUEST, Cancel
from sluice.contracts.templates.templates import NewTemplate
from tests.integration.operator.conftest import Operator, run_operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.scene import Counts, Scene
from tests.integration.operator.sluice_command import Command
from wfms.operator.gateway.usecases.forward_request import ForwardedRequest, forward_request

JSON = {"content-type": "application/json"}


@pytest.fixture
async def scene(operator: Operator, spd_text: str, tmp_path: Path) -> Scene:
    template = await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    scene = Scene(operator.neighbours, template, tmp_path, datetime.now(UTC))
    scene.add_rows()
    return scene


async def test_chain_request_has_the_latest_version_and_its_parameters(
    operator: Operator, spd_text: str
) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    latest = await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text + "# 2\n"))
    dataset = await operator.client.register_dataset(
        NewDataset(name="run-7", run=7, meta={"period": "autumn"})
    )
    await operator.client.request_chain(dataset.uid, "spd", params={"min_hits": 9})
    [request] = operator.neighbours.requested
    assert (request.template_id, request.template_version, request.plan) == (
        latest.id,
        2,
        latest.plan,
    )
    assert request.params == {"run": 7, "period": "autumn", "min_hits": 9}
    assert request.dataset.uid == dataset.uid


async def test_repeated_chain_request_returns_the_existing_chain(
    operator: Operator, spd_text: str, sluice: Command
) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    dataset = await operator.client.register_dataset(
        NewDataset(name="run-7", run=7, meta={"period": "autumn"})
    )
    request = RequestChain(dataset_uid=dataset.uid, template="spd", params={"min_hits": 9})
    chain, is_new = await operator.client.request_new_chain(request)
    assert is_new
    assert await operator.client.request_new_chain(request) == (chain, False)
    arguments = ("chain", "start", str(dataset.uid), "spd", "--param")
    output = await sluice(*arguments, "min_hits=9", code=3)
    assert f"chain {chain.uid}" in output
    assert (
        "nothing was started: a chain of run-7 and spd 1 with these parameters already exists"
        in output
    )
    assert str(chain.uid) not in await sluice(*arguments, "min_hits=8")
    page = await operator.http.get("/chains/new?dataset=run-7&template=spd")
    form = {
        "csrf_token": read_token(page),
        "dataset": str(dataset.uid),
        "template": "spd",
        "param-min_hits": "9",
    }
    shown = await operator.http.post("/chains/new", data=form, follow_redirects=True)
    assert shown.url.path == f"/chains/{chain.uid}"
    assert "Nothing was started" in shown.text
    assert len(operator.neighbours.requested) == 2


async def test_chain_without_a_template_or_data_set_is_refused(
    operator: Operator, spd_text: str
) -> None:
    dataset = await operator.client.register_dataset(NewDataset(name="run-7"))
    with pytest.raises(NotFound, match="spd"):
        await operator.client.request_chain(dataset.uid, "spd")
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    with pytest.raises(NotFound, match="data set"):
        await operator.client.request_chain(uuid4(), "spd")
    deleted_dataset = operator.neighbours.datasets[dataset.uid].model_copy(
        update={"state": DatasetState.DELETED}
    )
    operator.neighbours.datasets[dataset.uid] = deleted_dataset
    with pytest.raises(Conflict, match="deleted"):
        await operator.client.request_chain(dataset.uid, "spd")
    assert operator.neighbours.requested == []


async def test_chains_and_tasks_are_listed_filtered_and_canceled(
    operator: Operator, scene: Scene
) -> None:
    assert len((await operator.client.list_chains()).chains) == 6
    [failed] = (await operator.client.list_chains(state=ChainListState.FAILED)).chains
    with pytest.raises(Conflict):
        await operator.client.cancel_chain(failed.uid)
    tasks = (await operator.client.list_tasks(state=StepState.IN_PROGRESS)).tasks
    assert len(tasks) == 2
    assert all(task.jobs is not None for task in tasks)
    assert (await operator.client.prioritise_task(tasks[0].task_uid, rank=7.5)).rank == 7.5
    why = Cancel(reason="there is no node for it")
    canceled = await operator.client.cancel_task(tasks[0].task_uid, why)
    assert (canceled.state, canceled.reason) == (TaskState.CANCELED, why.reason)
    assert (await operator.client.cancel_chain(tasks[0].chain_uid, why)).reason == why.reason
    assert (await operator.client.cancel_chain(tasks[1].chain_uid)).reason == BY_REQUEST.reason
    assert (await operator.client.cancel_chain(tasks[1].chain_uid, why)).reason == (
        BY_REQUEST.reason
    ), "the first reason stays"


async def test_body_limit_applies_to_forwarded_requests(database_url: str) -> None:
    largest, path = 64 * 1024, f"/api/v1/datasets/{uuid4()}/close"
    async with run_operator(database_url, largest_body=largest) as operator:
        for size, status in ((largest, 422), (largest + 1, 413)):
            answer = await operator.http.post(path, content=b" " * size, headers=JSON)
            assert answer.status_code == status


async def test_task_is_found_by_a_name_with_dots(operator: Operator, scene: Scene) -> None:
    chain = scene.chain("run.0320.frames", 1, [], ChainState.IN_PROGRESS)
    task = next(iter(operator.neighbours.tasks.values()))
    step = chain.steps[0].model_copy(
        update={"name": "decode.raw", "task_uid": task.uid, "state": StepState.IN_PROGRESS}
    )
    operator.neighbours.chains[chain.uid] = chain.model_copy(update={"steps": [step]})
    answer = await operator.http.get("/api/v1/tasks", params={"name": "run.0320.frames.decode.raw"})
    assert [row["task_uid"] for row in answer.json()["tasks"]] == [str(task.uid)]
    for other in (
        "run.0320.frames",
        "run.0320.frames.",
        ".run.0320.frames.decode.raw",
        "decode.raw",
    ):
        assert (await operator.http.get("/api/v1/tasks", params={"name": other})).json()[
            "tasks"
        ] == []


async def test_tasks_are_filtered_by_their_chain(operator: Operator, scene: Scene) -> None:
    chain = scene.chain("run-7", 1, [Counts(finished=1, total=1)], ChainState.FINISHED)
    tasks = await operator.client.list_tasks(chain_uid=chain.uid)
    assert {task.chain_uid for task in tasks.tasks} == {chain.uid}


async def test_failed_chain_is_discarded_and_an_unknown_chain_is_not_found(
    operator: Operator, scene: Scene
) -> None:
    [failed] = (await operator.client.list_chains(state=ChainListState.FAILED)).chains
    assert (await operator.client.discard_chain(failed.uid)).uid == failed.uid
    assert operator.neighbours.discarded == [failed.uid]
    with pytest.raises(NotFound):
        await operator.client.discard_chain(uuid4())


async def test_rank_out_of_range_and_unknown_filters_are_refused(
    operator: Operator, scene: Scene
) -> None:
    task = next(iter(operator.neighbours.tasks))
    answers = [
        await operator.http.post(f"/api/v1/tasks/{task}/rank", json={"rank": -1}),
        await operator.http.get("/api/v1/tasks?sate=failed"),
        await operator.http.get("/api/v1/chains?state=gone"),
    ]
    assert [answer.status_code for answer in answers] == [422] * 3
    assert all(answer.json()["findings"] for answer in answers)


async def test_unknown_query_parameter_is_refused_with_the_known_ones(
    operator: Operator, scene: Scene, subtests: pytest.Subtests
) -> None:
    """Some of the routes are forwarded, and some have no parameters."""
    for address in ("datasets", "pilots", "storages", "limits", "me"):
        with subtests.test(address=address):
            answer = await operator.http.get(f"/api/v1/{address}?sate=failed")
            assert answer.status_code == 422
            [finding] = answer.json()["findings"]
            known_names = "name" if address in {"datasets", "pilots", "storages"} else "none"
            assert finding["message"].startswith("query.sate: there is no such parameter here: ")
            assert known_names in finding["message"]


async def test_requests_are_forwarded_to_other_services(operator: Operator, scene: Scene) -> None:
    assert [pilot.name for pilot in (await operator.client.list_pilots()).pilots] == [
        "farm-07",
        "farm-08",
        "farm-03",
    ]
    task = next(status.uid for status in operator.neighbours.tasks.values() if status.quarantined)
    [job] = (await operator.client.list_jobs(task, state=JobState.QUARANTINED)).jobs
    assert (await operator.client.get_job(job.id)).attempts
    assert "wait for a free slot" in (await operator.client.explain_task(task)).text
    assert (await operator.client.retry_task(task)).failed == 0
    assert len((await operator.client.list_datasets()).datasets) > 6
    with pytest.raises(NotFound, match="no job 9999"):
        await operator.client.get_job(9999)
    refused = await operator.http.post("/api/v1/datasets", json={"name": "../etc"})
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"


async def test_service_that_does_not_answer_is_named(operator: Operator, scene: Scene) -> None:
    async with httpx.AsyncClient(base_url="http://127.0.0.1:9") as nobody:
        with pytest.raises(NotAvailable, match="the service wms does not answer"):
            await forward_request(
                nobody, "wms", ForwardedRequest("GET", "/api/v1/pilots", "", b"", "")
            )

    async def broken(scope: object, receive: object, send: object) -> None:
        raise OSError("the disk is gone")

    operator.links.apps["wms"] = broken
    page = await operator.http.get("/")
    assert page.status_code == 200, "the first page shows what is known"
    assert "The WMS does not answer" in page.text


async def test_malformed_request_is_refused_with_findings(
    operator: Operator, spd_text: str
) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    answer = await operator.http.post(
        "/api/v1/chains", json={"dataset_uid": "no", "template": "spd"}
    )
    assert answer.status_code == 422
    with pytest.raises(Unprocessable):
        await operator.client.store_template(NewTemplate(name="x", cwl="[]"))


async def test_openapi_document_health_and_metrics_are_served(operator: Operator) -> None:
    document = (await operator.http.get("/api/openapi.json")).json()
    app: Any = operator.service.app
    assert app.openapi() is app.openapi(), "it is made once"
    assert {
        "/api/v1/templates",
        "/api/v1/templates/{name}",
        "/api/v1/tasks/{uid}/rank",
        "/api/v1/chains",
    } <= document["paths"].keys()
    assert (await operator.http.get("/readyz")).json() == {"database": "ok"}
    await operator.http.get(f"/api/v1/tasks/{uuid4()}")
    metrics = (await operator.http.get("/metrics")).text
    assert 'route="/api/v1/tasks/<uuid:uid>",status="404"' in metrics


async def test_killed_jobs_are_counted(operator: Operator, scene: Scene, sluice: Command) -> None:
    row = next(row for row in operator.neighbours.task_rows() if row.jobs is not None)
    counted = {"canceled": 9, "killed": 2, "total": row.jobs.total + 9} if row.jobs else {}
    operator.neighbours.tasks[row.task_uid] = operator.neighbours.tasks[row.task_uid].model_copy(
        update=counted
    )
    assert "9 canceled (2 killed)" in (await operator.http.get(f"/tasks/{row.task_uid}")).text
    assert "9 canceled (2 killed)" in (await operator.http.get("/tasks")).text
    assert "killed: 2 of its canceled jobs" in await sluice("task", "show", str(row.task_uid))
    listed = await operator.client.list_tasks()
    assert [
        task.jobs.killed for task in listed.tasks if task.task_uid == row.task_uid and task.jobs
    ] == [2]


async def test_chain_list_forwards_its_filters(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    chain = scene.chain("other-input", 1, [Counts(finished=1, total=1)], ChainState.FINISHED)
    operator.neighbours.chains[chain.uid] = chain.model_copy(
        update={"template": "other", "owner": "anna"}
    )

    async def listed(*filters: str) -> set[str]:
        rows = json.loads(await sluice("chain", "list", "--json", *filters))
        return {row["dataset_name"] for row in rows}

    everything = await listed()
    assert len(everything) > 1
    for filters in (
        ["--template", "other"],
        ["--owner", "anna"],
        ["--name", "other-input"],
        ["--template", "other", "--meta", "run=312", "--meta", "detector=spd"],
    ):
        assert await listed(*filters) == {"other-input"}, filters
    assert await listed("--meta", "run=312") == everything
    assert "no chain matches" in await sluice("chain", "list", "--meta", "run=313")
    assert "is not of the form key=value" in await sluice("chain", "list", "--meta", "run", code=2)
    refused = await operator.http.get("/api/v1/chains?meta=run")
    assert (refused.status_code, "query.meta" in refused.text) == (422, True)
