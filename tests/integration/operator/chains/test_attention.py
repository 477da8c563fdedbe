"""Notices that need attention, and their acknowledgement: page, REST, command."""

import json
import re
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI

from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import ChainState, PilotState
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.transport.base import TransportUnavailable
from sluice.servicekit.web.http import Health, create_app
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.scene import Counts, Scene
from tests.integration.operator.sluice_command import Command

FAILED = (
    "spd over run-0308-frames failed: step decode: 9 of 60 jobs failed permanently, the boundary"
    " allows 6 (9 × tool refused)"
)
LOST_PILOT_TEXT = (
    "Pilot farm-03 on farm-03.example.org stopped answering; its jobs were given to others"
)


def read_figures(page: str) -> dict[str, str]:
    pairs = re.findall(r"<dt>([^<]+)</dt><dd>(.*?)</dd>", page)
    return {name: re.sub(r"<[^>]+>", "", value) for name, value in pairs}


def get_failed_chain(operator: Operator) -> str:
    return str(
        next(
            chain.uid
            for chain in operator.neighbours.chains.values()
            if chain.state is ChainState.FAILED
        )
    )


async def test_figures_of_the_first_page_come_from_the_services(
    operator: Operator, scene: Scene
) -> None:
    for number in range(70):
        scene.chain(f"run-{number}", number, [Counts(ready=9, total=9)], ChainState.IN_PROGRESS)
    page = (await operator.http.get("/")).text
    assert read_figures(page) == {
        "Chains running": "73",
        "Jobs running": "12",
        "Jobs waiting": "82",
        "Templates": "1",
    }
    listed = page.count('class="card chain"')
    assert f"{73 - listed} chains more" in page


async def test_failure_stays_on_the_page_until_somebody_acknowledges_it(
    operator: Operator, scene: Scene
) -> None:
    for number in range(12):
        scene.chain(f"later-{number}", number, [Counts(finished=9, total=9)], ChainState.FINISHED)
    page = await operator.http.get("/")
    assert FAILED in page.text
    again = await operator.http.post(
        "/attention",
        data={"csrf_token": read_token(page), "id": f"chain:{get_failed_chain(operator)}"},
    )
    assert "give your name" in (await operator.http.get(again.headers["location"])).text
    assert FAILED in (await operator.http.get("/")).text
    form = {
        "csrf_token": read_token(page),
        "id": f"chain:{get_failed_chain(operator)}",
        "by": " Ann <b> ",
    }
    assert (await operator.http.post("/attention", data=form)).status_code == 303
    page = await operator.http.get("/")
    assert "1 notice acknowledged" in page.text
    assert FAILED not in page.text
    assert LOST_PILOT_TEXT in page.text
    assert 'value="Ann &lt;b&gt;"' in page.text, "the name is remembered"
    chain = (await operator.http.get(f"/chains/{get_failed_chain(operator)}")).text
    assert "Seen by Ann &lt;b&gt;" in chain


async def test_second_acknowledgement_names_the_person_who_was_first(
    operator: Operator, scene: Scene
) -> None:
    token, subject = read_token(await operator.http.get("/")), f"chain:{get_failed_chain(operator)}"
    for by in ("Ann", "Bob"):
        await operator.http.post("/attention", data={"csrf_token": token, "id": subject, "by": by})
    page = (await operator.http.get("/")).text
    assert "Ann already acknowledged it, 20" in page
    assert page.count("1 notice acknowledged") == 1


async def test_acknowledge_all_affects_only_the_notices_shown(
    operator: Operator, scene: Scene
) -> None:
    reason = "step decode: it did"
    for number in range(30):
        scene.chain(
            f"bad-{number}",
            100 + number,
            [Counts(failed=9, total=9)],
            ChainState.FAILED,
            reason=reason,
        )
    page = await operator.http.get("/")
    shown = re.findall(r'name="shown" value="([^"]+)"', page.text)
    assert len(shown) < 31
    assert re.search(r"And [0-9]+ more", page.text)
    answer = await operator.http.post(
        "/attention",
        data={"csrf_token": read_token(page), "all": "yes", "by": "Ann", "shown": shown},
    )
    assert answer.status_code == 303
    chains = [
        notice_id.removeprefix("chain:") for notice_id in shown if notice_id.startswith("chain:")
    ]
    assert {
        str(chain.uid) for chain in operator.neighbours.chains.values() if chain.acknowledged
    } == set(chains)


async def test_long_chain_that_just_ended_is_listed_first_among_ended_chains(
    operator: Operator, scene: Scene
) -> None:
    for number in range(12):
        scene.chain(
            f"short-{number}", 5 + number, [Counts(finished=9, total=9)], ChainState.FINISHED
        )
    chain = scene.chain("long", 9000, [Counts(finished=9, total=9)], ChainState.FINISHED)
    operator.neighbours.chains[chain.uid] = chain.model_copy(update={"ended_at": scene.now})
    page = (await operator.http.get("/")).text
    rows = re.findall(
        r'<th scope="row"><a href="/chains/[^"]+"[^>]*>([^<]+)</a>', page.partition("Ended last")[2]
    )
    assert rows[:2] == ["long", "short-0"]
    assert len(rows) == 10


async def test_page_shows_the_sandbox_of_each_pilot(operator: Operator, scene: Scene) -> None:
    page = (await operator.http.get("/")).text
    sandboxes = re.findall(
        r'<th scope="row"><a href="/pilots/[^"]*">(\S+)</a>.*?<td data-label="Sandbox">(\w+)</td>',
        page,
        re.DOTALL,
    )
    assert sandboxes == [("farm-07", "namespaces"), ("farm-08", "none"), ("farm-03", "namespaces")]


async def test_page_shows_version_and_gpus_of_each_pilot(operator: Operator, scene: Scene) -> None:
    page = (await operator.http.get("/")).text
    nodes = re.findall(r'<span class="muted">(farm-\d+\.example\.org.*?)</span>', page)
    assert nodes == [
        "farm-07.example.org, version 0.2.0, 2 × A2, 1 × H200",
        "farm-08.example.org, version 0.2.0",
        "farm-03.example.org, version 0.2.0",
    ]


async def test_page_lists_fifty_pilots_and_counts_the_others(
    operator: Operator, scene: Scene
) -> None:
    inactive_pilot = operator.neighbours.pilots[0].model_copy(update={"state": PilotState.GONE})
    operator.neighbours.pilots[:0] = [
        inactive_pilot.model_copy(update={"uid": uuid4(), "name": f"gone-{n}"}) for n in range(60)
    ]
    page = (await operator.http.get("/")).text
    listed = re.findall(r'<th scope="row"><a href="/pilots/[^"]*">(\S+)</a> <span', page)
    assert {"farm-07", "farm-08", "farm-03"} <= set(listed)
    assert len(listed) == 50
    assert '<a href="/pilots">13 more pilots</a>' in page


async def test_lost_pilots_are_reported_although_many_pilots_are_active(
    operator: Operator, scene: Scene
) -> None:
    active, _, lost = operator.neighbours.pilots
    for number in range(70):
        new = {"uid": uuid4(), "host": f"host-{number}"}
        operator.neighbours.pilots += [
            active.model_copy(update=new),
            lost.model_copy(update=new | {"uid": uuid4()}),
        ]
    attention = await operator.client.list_notices(limit=20)
    assert len([notice for notice in attention.notices if "stopped answering" in notice.text]) == 18
    assert (len(attention.notices), attention.more) == (20, 53)


async def test_request_without_the_form_token_acknowledges_nothing(
    operator: Operator, scene: Scene
) -> None:
    data = {"id": f"chain:{get_failed_chain(operator)}", "by": "Ann"}
    assert (await operator.http.post("/attention", data=data)).status_code == 403
    token = read_token(await operator.http.get("/"))
    await operator.http.post("/attention", data=data | {"csrf_token": token, "id": "chain:x"})
    assert "is not the id of a notice" in (await operator.http.get("/")).text
    assert not any(chain.acknowledged for chain in operator.neighbours.chains.values())


async def test_rest_lists_and_acknowledges_notices(operator: Operator, scene: Scene) -> None:
    attention = await operator.client.list_notices()
    task = attention.notices[0].task_uid
    assert [(notice.text, notice.id is not None) for notice in attention.notices] == [
        (
            "spd over run-0313-frames, step decode: 1 job took several pilots down and waits for a "
            f"decision: `sluice task jobs {task} --state quarantined`",
            False,
        ),
        (FAILED, True),
        (LOST_PILOT_TEXT, True),
    ]
    few = await operator.client.list_notices(limit=1)
    assert (len(few.notices), few.more) == (1, 2)
    [lost] = [pilot for pilot in operator.neighbours.pilots if pilot.state is PilotState.LOST]
    answer = await operator.http.post(f"/api/v1/pilots/{lost.uid}/acknowledge", json={"by": "Ann"})
    assert answer.status_code == 204
    assert LOST_PILOT_TEXT not in [
        notice.text for notice in (await operator.client.list_notices()).notices
    ]
    assert "seen by Ann" in (await operator.http.get("/")).text


async def test_command_lists_and_acknowledges_notices(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    listed = await sluice("attention", "list")
    assert FAILED in listed
    assert f"chain:{get_failed_chain(operator)}" in listed
    assert "nothing was acknowledged" in await sluice(
        "attention", "acknowledge", "chain:x", "--by", "Ann", code=1
    )
    assert "--by" in await sluice("attention", "acknowledge", "--all", "--by", " ", code=2)
    done = json.loads(
        await sluice(
            "attention",
            "acknowledge",
            f"chain:{get_failed_chain(operator)}",
            "--by",
            "Ann",
            "--json",
        )
    )
    assert done == {"acknowledged": [f"chain:{get_failed_chain(operator)}"], "by": "Ann"}
    second = await sluice(
        "attention", "acknowledge", f"chain:{get_failed_chain(operator)}", "--by", "Bob", code=1
    )
    assert "Ann already acknowledged it, 20" in second
    assert "acknowledged by Bob" not in second
    assert "1 acknowledged by Bob" in await sluice(
        "attention", "acknowledge", "--all", "--by", "Bob"
    )
    assert {
        pilot.acknowledged.by for pilot in operator.neighbours.pilots if pilot.acknowledged
    } == {"Bob"}
    assert "0 acknowledged by Bob" in await sluice(
        "attention", "acknowledge", "--all", "--by", "Bob"
    )
    assert "seen by Ann" in await sluice("chain", "show", get_failed_chain(operator))


async def test_acknowledge_all_skips_chains_deleted_meanwhile(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    reason = "step decode: it did"
    chains = [
        scene.chain(f"bad-{number}", number, [Counts(failed=9)], ChainState.FAILED, reason=reason)
        for number in range(30)
    ]
    chains_by_uid = operator.neighbours.chains

    def discard_another(uid: UUID) -> None:
        operator.neighbours.on_acknowledge = lambda uid: None
        del chains_by_uid[next(chain.uid for chain in chains if chain.uid != uid)]

    operator.neighbours.on_acknowledge = discard_another
    done = json.loads(await sluice("attention", "acknowledge", "--all", "--by", "Ann", "--json"))
    assert (
        len(done["acknowledged"])
        == len(set(done["acknowledged"]))
        == 29 + len(("the scene's chain", "its pilot"))
    )
    assert operator.neighbours.needed() == []


async def test_unknown_chain_is_reported_and_the_other_is_acknowledged(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    output = await sluice(
        "attention",
        "acknowledge",
        f"chain:{uuid4()}",
        f"chain:{get_failed_chain(operator)}",
        "--by",
        "Ann",
        code=1,
    )
    assert "there is no chain" in output
    assert operator.neighbours.needed() == []


async def test_open_problems_and_past_failures_are_both_shown(
    operator: Operator, scene: Scene
) -> None:
    """There are far more of each than the page has space for."""
    for number in range(30):
        scene.chain(f"held-{number}", 0, [Counts(quarantined=1, total=9)], ChainState.IN_PROGRESS)
        stuck = scene.chain(
            f"stuck-{number}", 0, [Counts(ready=9, total=9)], ChainState.IN_PROGRESS
        )
        step = stuck.steps[0].model_copy(update={"reason": "there is no storage"})
        operator.neighbours.chains[stuck.uid] = stuck.model_copy(
            update={"steps": [step, *stuck.steps[1:]]}
        )
    page = (await operator.http.get("/")).text
    assert FAILED in page
    assert f'value="chain:{get_failed_chain(operator)}"' in page
    assert "took several pilots down" in page
    attention = await operator.client.list_notices(limit=20)
    assert len(attention.notices) == 20
    assert (
        attention.more
        == 30 + 30 + len(("the scene's failed chain", "its held job", "its lost pilot")) - 20
    )


@pytest.mark.parametrize(
    ("service", "message"),
    [("wms", "The WMS does not"), ("wfms.chains", "The chain service does not")],
)
async def test_page_names_the_service_that_does_not_answer(
    operator: Operator, scene: Scene, service: str, message: str
) -> None:
    broken = FastAPI()

    @broken.api_route("/{path:path}")
    async def refuse(path: str) -> None:
        raise NotAvailable("out of order")

    operator.links.apps[service] = broken
    page = await operator.http.get("/")
    assert page.status_code == 200
    assert message in page.text
    assert "–" in read_figures(page.text).values()


async def test_tasks_and_chains_are_listed_in_pages(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    task_uids = {
        step.task_uid
        for number in range(120)
        for step in _make_chain(scene, number).steps
        if step.started_at is not None
    }
    uids_seen: set[str] = set()
    address: str | None = "/tasks"
    while address is not None:
        page = (await operator.http.get(address)).text
        uids_seen |= set(re.findall(r'href="/tasks/([0-9a-f-]{36})"', page))
        more = re.search(r'<p class="pager"><a href="([^"]+)">Older tasks', page)
        address = more[1].replace("&amp;", "&") if more else None
    assert {str(uid) for uid in task_uids} <= uids_seen
    assert (await operator.http.get("/tasks?after=nowhere")).status_code == 200
    listed = await sluice("task", "list", "--limit", "100")
    after = re.search(r"there are more: --after (\S+)", listed)
    assert after is not None
    assert "there are more" not in await sluice(
        "task", "list", "--limit", "1000", "--after", after[1]
    )
    assert "there are more: --after" in await sluice("chain", "list", "--limit", "100")


def _make_chain(scene: Scene, number: int) -> Chain:
    return scene.chain(f"more-{number}", number, [Counts(ready=2, total=2)], ChainState.IN_PROGRESS)


async def test_page_names_a_failing_message_broker_only_once(
    operator: Operator, scene: Scene
) -> None:
    async def cannot_send() -> None:
        raise TransportUnavailable("the message broker's disk is full")

    health = Health({"transport": cannot_send})
    for service in ("dms", "wfms.ask"):
        operator.links.apps[service] = create_app(
            service, [], health=health, metrics=ServiceMetrics()
        )
    page = (await operator.http.get("/")).text
    assert page.count("cannot send messages: the message broker&#39;s disk is full") == 1
