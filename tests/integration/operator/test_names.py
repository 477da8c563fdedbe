"""Commands take data sets, chains and tasks by name or by the beginning of the uid."""

import html
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.access.services import CallingService
from sluice.contracts.chains.chains import Chain, ChainDataset
from sluice.contracts.common.states import (
    ChainDatasetStatus,
    ChainState,
    DatasetState,
    DatasetType,
    StepState,
    TaskState,
)
from sluice.contracts.data.datasets import Dataset, NewDataset
from sluice.contracts.templates.templates import NewTemplate
from sluice.servicekit.access.principal import ServiceCaller
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.sluice_command import Command
from tests.unit.cwl.samples import LINEAR

SECOND = timedelta(seconds=1)


def make_chain_registration(operator: Operator) -> Callable[[NewDataset], Awaitable[Dataset]]:
    """Return a function that registers data sets in the name of the chain service."""
    http = operator.links.http_of(ServiceCaller(CallingService.CHAINS), "dms")
    return DmsClient(http).register_dataset


@pytest.fixture
async def chain(operator: Operator) -> Chain:
    """Return a chain of the data set ``week.1`` through ``linear``; its first step has begun."""
    await operator.client.store_template(NewTemplate(name="linear", cwl=LINEAR))
    dataset = await operator.client.register_dataset(NewDataset(name="week.1"))
    new = await operator.client.request_chain(dataset.uid, "linear")
    first, *others = new.steps
    step = first.model_copy(update={"state": StepState.IN_PROGRESS, "task_uid": new.uid})
    operator.neighbours.chains[new.uid] = new.model_copy(update={"steps": [step, *others]})
    operator.neighbours.add_waiting_task(new.uid, step)
    return operator.neighbours.chains[new.uid]


async def test_data_set_is_found_by_name_or_beginning_of_its_uid(
    sluice: Command, chain: Chain
) -> None:
    for called in ("week.1", str(chain.dataset_uid), str(chain.dataset_uid)[:8]):
        assert await sluice("dataset", "files", called) == "no file\n"
    assert "there is no data set 'week.2'" in await sluice("dataset", "files", "week.2", code=1)


async def test_output_is_found_by_its_own_name_if_the_name_is_unique(
    operator: Operator, sluice: Command
) -> None:
    meta = {"chain": "c", "output_name": "week.1.report"}
    first = await make_chain_registration(operator)(
        NewDataset(name="uid.sum.report", type=DatasetType.OUTPUT, meta=meta)
    )
    assert await sluice("dataset", "files", "week.1.report") == "no file\n"
    [row] = [
        line for line in (await sluice("dataset", "list")).splitlines() if str(first.uid) in line
    ]
    assert "week.1.report" in row
    again = await make_chain_registration(operator)(
        NewDataset(name="other.sum.report", type=DatasetType.OUTPUT, meta=meta)
    )
    output = await sluice("dataset", "files", "week.1.report", code=1)
    assert "2 data sets are called 'week.1.report'" in output
    for dataset in (first, again):
        assert f"{dataset.uid}: week.1.report, output, open, {dataset.timestamp:%F %T}" in output
    listed = await sluice("dataset", "list", "--name", "week.1.report")
    assert all(str(dataset.uid) in listed for dataset in (first, again))
    deleted_dataset = again.model_copy(update={"state": DatasetState.DELETED})
    operator.neighbours.datasets[again.uid] = deleted_dataset
    assert await sluice("dataset", "files", "week.1.report") == "no file\n", (
        "the deleted data set is not considered"
    )


async def test_partial_list_of_data_sets_tells_how_to_continue(
    operator: Operator, sluice: Command
) -> None:
    for number in range(4):
        await operator.client.register_dataset(NewDataset(name=f"week.{number}"))
    first = await sluice("dataset", "list", "--limit", "2")
    assert "week.3" in first
    assert "week.1" not in first
    match = re.search("there are more: --after (.+)", first)
    assert match is not None
    last = await sluice("dataset", "list", "--limit", "2", "--after", match[1])
    assert "week.0" in last
    assert "there are more" not in last
    assert "there are more" not in await sluice("dataset", "list", "--limit", "4")


async def test_pages_distinguish_outputs_with_the_same_name(
    operator: Operator, chain: Chain
) -> None:
    datasets = []
    for number in range(8):
        meta = {"chain": str(uuid4()), "output_name": "week.1.report"}
        new = NewDataset(name=f"{number}.sum.report", type=DatasetType.OUTPUT, meta=meta)
        datasets.append(await make_chain_registration(operator)(new))
    listed = (await operator.http.get("/datasets")).text
    called = (await operator.http.get("/datasets?name=week.1.report")).text
    for dataset in datasets:
        label = f"{str(dataset.uid)[:8]}, of chain {dataset.meta['chain'][:8]}"
        assert label in listed
        assert label in called
    assert str(chain.dataset_uid) in listed
    assert str(chain.dataset_uid) not in called
    page = (await operator.http.get(f"/datasets/{datasets[0].uid}")).text
    assert "7 more data sets are called week.1.report" in page
    assert page.count("/datasets/") - page.count(f"/datasets/{datasets[0].uid}") >= 5
    assert "/datasets?name=week.1.report" in page
    assert "more data set" not in (await operator.http.get(f"/datasets/{chain.dataset_uid}")).text


async def test_ambiguous_name_is_answered_with_the_matching_data_sets(
    operator: Operator, sluice: Command, chain: Chain
) -> None:
    meta = {"chain": "c", "output_name": "week.1.report"}
    datasets = [
        await make_chain_registration(operator)(
            NewDataset(name=f"{number}.sum.report", type=DatasetType.OUTPUT, meta=meta)
        )
        for number in range(2)
    ]
    started = await operator.client.request_chain(datasets[0].uid, "linear")
    refusal = await operator.http.get("/api/v1/chains", params={"name": "week.1.report"})
    assert refusal.status_code == 409
    output = await sluice("chain", "show", "week.1.report", code=1)
    page = await operator.http.get(
        "/chains/new", params={"dataset": "week.1.report", "template": "linear"}
    )
    for dataset in datasets:
        assert str(dataset.uid) in refusal.text
        assert str(dataset.uid) in output
        assert f"/chains/new?dataset={dataset.uid}&amp;template=linear" in page.text
    query = {"name": "week.1.report", "dataset_uid": str(datasets[0].uid)}
    chains = (await operator.http.get("/api/v1/chains", params=query)).json()["chains"]
    assert [row["uid"] for row in chains] == [str(started.uid)]
    del operator.neighbours.datasets[datasets[1].uid]
    assert f"chain {started.uid}" in await sluice("chain", "show", "week.1.report")
    ready = (
        await operator.http.get(
            "/chains/new", params={"dataset": "week.1.report", "template": "linear"}
        )
    ).text
    assert f'value="{datasets[0].uid}"' in ready


async def test_chain_is_found_by_data_set_or_beginning_of_its_uid(
    operator: Operator, sluice: Command, chain: Chain
) -> None:
    for called in ("week.1", str(chain.uid), str(chain.uid)[:6]):
        assert "week.1 through linear 1: in_progress" in await sluice("chain", "show", called)
    assert "there is no chain" in await sluice("chain", "show", str(chain.uid)[:3], code=1), (
        "three characters are too short"
    )
    other = await operator.client.request_chain(chain.dataset_uid, "linear", params={"limit": 6})
    output = await sluice("chain", "show", "week.1", code=1)
    assert "2 chains are called 'week.1'" in output
    assert str(chain.uid) in output
    assert f"{other.uid}: week.1 through linear 1, in_progress" in output


async def test_ambiguous_beginning_of_a_uid_destroys_no_chain(
    operator: Operator, sluice: Command, chain: Chain
) -> None:
    """One of the two chains is far behind in the list."""
    twin = chain.model_copy(
        update={
            "uid": UUID(str(chain.uid)[:-4] + "0000"),
            "dataset_uid": uuid4(),
            "dataset_name": "older",
            "created_at": chain.created_at - SECOND,
        }
    )
    for _ in range(1_000):
        newer = {"uid": uuid4(), "dataset_uid": uuid4(), "dataset_name": "later"}
        newer_chain = chain.model_copy(update=newer)
        operator.neighbours.chains[newer_chain.uid] = newer_chain
    operator.neighbours.chains[twin.uid] = twin
    for command in ("discard", "delete", "cancel"):
        output = await sluice("chain", command, str(chain.uid)[:8], "--yes", code=1)
        assert f"2 chains are called '{str(chain.uid)[:8]}'" in output
        assert str(chain.uid) in output
        assert f"{twin.uid}: older through linear 1" in output
    assert operator.neighbours.chains[chain.uid].state is ChainState.IN_PROGRESS


async def test_data_set_is_deleted_only_after_confirmation(
    operator: Operator, sluice: Command, chain: Chain
) -> None:
    spare = await operator.client.register_dataset(NewDataset(name="spare"))
    refused = await sluice("dataset", "delete", "spare", code=2)
    would = f"delete data set spare ({spare.uid}, open): 0 files, 0 B"
    assert f"nothing was done: this would {would}" in refused
    assert await sluice("dataset", "delete", str(spare.uid)[:8], "--dry-run") == f"would {would}\n"
    assert operator.neighbours.datasets[spare.uid].state is DatasetState.OPEN


async def test_deletion_of_a_deleted_chain_says_that_it_is_a_repetition(
    sluice: Command, chain: Chain
) -> None:
    await sluice("chain", "delete", "week.1", "--yes")
    assert "the rest was deleted before" in await sluice("chain", "delete", "week.1", "--dry-run")
    assert "(it was deleted before)" in await sluice("chain", "delete", "week.1", "--yes")


async def test_metadata_is_shown_as_json(operator: Operator, sluice: Command) -> None:
    meta = {"cuts": [True, None], "kind": "raw"}
    await operator.client.register_dataset(NewDataset(name="spare", meta=meta))
    shown = await sluice("dataset", "show", "spare")
    assert "  cuts: [true, null]\n  kind: raw\n" in shown


async def test_dry_run_refuses_unknown_names(sluice: Command) -> None:
    for words, message in (
        (("tool", "remove", "cutter"), "no tool 'cutter'"),
        (("asset", "remove", "model"), "no asset 'model'"),
    ):
        assert message in await sluice(*words, "--dry-run", code=1)


async def test_mistyped_name_is_answered_with_a_similar_name(sluice: Command, chain: Chain) -> None:
    step = chain.steps[0].name
    for words in (
        ("dataset", "files", "weak.1"),
        ("chain", "show", "week1"),
        ("dataset", "delete", "weeks.1", "--yes"),
    ):
        assert "(did you mean 'week.1'?)" in await sluice(*words, code=1)
    for words in (("template", "show", "linea"), ("template", "delete", "linea", "--dry-run")):
        assert "there is no template 'linea' (did you mean 'linear'?)" in await sluice(
            *words, code=1
        )
    output = await sluice("task", "show", f"week.1.{step}s", code=1)
    assert f"(did you mean 'week.1.{step}'?)" in output


async def test_task_is_found_by_the_beginning_of_its_uid(sluice: Command, chain: Chain) -> None:
    task = chain.steps[0].task_uid
    assert await sluice("task", "jobs", str(task)[:8]) == "it has no job yet\n"
    assert "there is no task" in await sluice("task", "jobs", str(task)[:3], code=1)
    assert "; for job 17: `sluice task job 17`" in await sluice("task", "show", "17", code=1)
    output = await sluice("chain", "show", str(chain.uid)[:5], code=1)
    assert "; the beginning of a uid needs 6 characters or more" in output


async def test_task_is_found_by_chain_and_step(sluice: Command, chain: Chain) -> None:
    first, second = chain.steps[0].name, chain.steps[1].name
    assert await sluice("task", "jobs", f"week.1.{first}") == "it has no job yet\n"
    assert await sluice("task", "jobs", f"{str(chain.uid)[:8]}.{first}") == "it has no job yet\n"
    assert "it waits for the steps before it" in await sluice(
        "task", "jobs", f"week.1.{second}", code=1
    )


async def test_chain_is_started_by_names(operator: Operator, sluice: Command, chain: Chain) -> None:
    await sluice("chain", "start", "week.1", "linear", "--param", "limit=7")
    assert operator.neighbours.requested[-1].dataset.uid == chain.dataset_uid


async def test_unknown_pilot_is_reported(sluice: Command) -> None:
    assert "there is no pilot 'farm-01'" in await sluice("pilot", "drain", "farm-01", code=1)


async def test_malformed_name_is_explained_in_words(
    operator: Operator, sluice: Command, tmp_path: Path
) -> None:
    """The command line, two forms of REST request and the page give the same explanation."""
    rule = "'week/1' has '/': a name has letters (A to Z, a to z), digits, blanks and _.+@=,~- only"
    (tmp_path / "a.txt").write_text("a")
    assert f"error: name: {rule}" in await sluice(
        "dataset", "register", "week/1", str(tmp_path / "a.txt"), code=1
    )
    sent = await operator.http.post("/api/v1/templates", json={"name": "week/1", "cwl": LINEAR})
    bare = await operator.http.post(
        "/api/v1/templates?name=week/1", content=LINEAR, headers={"content-type": "text/yaml"}
    )
    token = read_token(await operator.http.get("/templates"))
    page = await operator.http.post(
        "/templates", data={"csrf_token": token, "name": "week/1", "cwl": LINEAR}
    )
    for answer in (sent, bare, page):
        assert answer.status_code == 422
        assert rule in html.unescape(answer.text)
        assert "pattern" not in answer.text


async def test_rest_finds_chains_and_tasks_by_name(operator: Operator, chain: Chain) -> None:
    other = await operator.client.register_dataset(NewDataset(name="week"))
    await operator.client.request_chain(other.uid, "linear")

    async def list_rows(path: str, **params: str) -> list[dict[str, str]]:
        answer = await operator.http.get(f"/api/v1/{path}", params=params)
        assert answer.status_code == 200, answer.text
        rows: list[dict[str, str]] = answer.json()[path]
        return rows

    assert [row["uid"] for row in await list_rows("chains", name="week.1")] == [str(chain.uid)]
    assert await list_rows("chains", name="week.1", state=ChainState.FINISHED) == []
    assert await list_rows("chains", name="week.1", dataset_uid=str(other.uid)) == []
    assert await list_rows("chains", name="week.2") == []
    step = chain.steps[0].name
    assert [row["task_uid"] for row in await list_rows("tasks", name=f"week.1.{step}")] == [
        str(chain.uid)
    ]
    assert await list_rows("tasks", name=f"week.1.{step}", chain_uid=str(other.uid)) == []
    assert await list_rows("tasks", name=f"week.1.{step}", state=TaskState.FINISHED) == []
    for unknown in (f"week.2.{step}", "week.1.none", "week"):
        assert await list_rows("tasks", name=unknown) == []


async def test_chain_is_found_by_name_behind_a_thousand_newer_chains(
    operator: Operator, sluice: Command, chain: Chain
) -> None:
    other = await operator.client.register_dataset(NewDataset(name="later"))
    for _ in range(1_001):
        newer = {
            "uid": uuid4(),
            "dataset_uid": other.uid,
            "dataset_name": "later",
            "created_at": chain.created_at + SECOND,
        }
        newer_chain = chain.model_copy(update=newer)
        operator.neighbours.chains[newer_chain.uid] = newer_chain
    assert f"chain {chain.uid}" in await sluice("chain", "show", "week.1")


async def test_chain_is_shown_with_readable_names(
    operator: Operator, sluice: Command, chain: Chain
) -> None:
    """The task and the output have the names that commands take; other data have step and port."""
    first, last = chain.steps[0].name, "join"
    meta = {"chain": str(chain.uid), "step": last, "output_name": "week.1.all"}
    name = f"{chain.uid}.{last}.joined"
    output = await make_chain_registration(operator)(
        NewDataset(name=name, type=DatasetType.OUTPUT, meta=meta)
    )
    between = {"chain": str(chain.uid), "step": first}
    part = await operator.client.register_dataset(
        NewDataset(name=f"{chain.uid}.{first}.logs", type=DatasetType.LOGS, meta=between)
    )
    entries = [
        ChainDataset(
            uid=chain.dataset_uid,
            name="week.1",
            step=None,
            port=None,
            state=ChainDatasetStatus.READY,
        ),
        ChainDataset(
            uid=output.uid,
            name=output.name,
            step=last,
            port="joined",
            state=ChainDatasetStatus.READY,
        ),
        ChainDataset(
            uid=part.uid, name=part.name, step=first, port=None, state=ChainDatasetStatus.READY
        ),
    ]
    operator.neighbours.chains[chain.uid] = chain.model_copy(update={"datasets": entries})
    shown = await sluice("chain", "show", "week.1")
    rows = {row.split("  ")[0].strip(): row for row in shown.splitlines()}
    assert f"week.1.{first}" in rows[first]
    assert "input" in rows["week.1"]
    assert f"joined of {last}" in rows["week.1.all"]
    assert f"logs of {first}" in rows[f"{first}.logs"]
    assert f"{chain.uid}." not in shown, "internal names are not shown"
    page = await operator.http.get(f"/chains/{chain.uid}")
    assert ">week.1.all</a>" in page.text
    assert f">{first}.logs</a>" in page.text
    detail = await operator.http.get(f"/datasets/{output.uid}")
    assert "<h1>week.1.all</h1>" in detail.text
    assert name in detail.text
    assert ">week.1.all</a>" in (await operator.http.get("/datasets")).text


async def test_list_of_data_sets_includes_open_ones_and_begins_with_the_newest(
    operator: Operator, sluice: Command
) -> None:
    for name in ("first", "second"):
        await operator.client.register_dataset(NewDataset(name=name))
    listed = await sluice("dataset", "list")
    assert [line.split()[1] for line in listed.splitlines()[1:]] == ["second", "first"]
    assert await sluice("dataset", "list", "--state", "deleted") == "no data set\n"
