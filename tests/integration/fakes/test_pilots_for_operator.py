"""The operator tests' fake WMS has pilots, steps and limits as the real WMS."""

from collections.abc import Awaitable, Callable
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from sluice.clients.wms import WmsClient
from sluice.contracts.chains.attention import Acknowledge
from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.limits import SetLimit
from sluice.contracts.jobs.steps import RankStep
from sluice.contracts.jobs.warm_workers import LoadTool
from tests.integration.fakes.operator_wms import OperatorWms
from tests.integration.fakes.real_services import RealServices
from tests.integration.fakes.two_services import (
    CONFLICT,
    NOT_FOUND,
    REAL,
    find_refusal,
    get_refusal,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

ACTIVE, DRAINING, LOST, GONE = (
    PilotState.ACTIVE,
    PilotState.DRAINING,
    PilotState.LOST,
    PilotState.GONE,
)

#: Each request about a pilot.
REQUESTS: dict[str, Callable[[WmsClient, UUID], Awaitable[object]]] = {
    "get": lambda wms, uid: wms.get_pilot(uid),
    "stop": lambda wms, uid: wms.stop_pilot(uid),
    "load": lambda wms, uid: wms.load_tool(uid, LoadTool(step="decode")),
    "remove": lambda wms, uid: wms.remove_pilot(uid),
    "acknowledge": lambda wms, uid: wms.acknowledge_pilot(uid, Acknowledge(by="ada")),
}

#: The requests that each state refuses.
REFUSED = {
    ACTIVE: {"remove", "acknowledge"},
    DRAINING: {"load", "remove", "acknowledge"},
    LOST: {"load"},
    GONE: {"stop", "load", "acknowledge"},
}


@pytest_asyncio.fixture(loop_scope="module")
async def wms(kind: str, services: RealServices) -> OperatorWms:
    wms = OperatorWms.real(services) if kind == REAL else OperatorWms.fake(services)
    await wms.clear()
    return wms


async def list_pilot_uids(wms: OperatorWms, *, attention: bool = False) -> list[UUID]:
    return [pilot.uid for pilot in (await wms.client.list_pilots(attention=attention)).pilots]


async def test_present_pilots_come_first_then_lost_then_acknowledged_and_ended_ones(
    wms: OperatorWms,
) -> None:
    gone, seen, lost = [await wms.pilot(state) for state in (GONE, LOST, LOST)]
    draining, active = await wms.pilot(DRAINING), await wms.pilot()
    await wms.services.wms.acknowledge_pilot(seen, Acknowledge(by="ada"))
    await wms.copy_rows()
    uids = await list_pilot_uids(wms)
    assert uids[:3] == [active, draining, lost], "the latest comes first"
    assert set(uids[3:]) == {gone, seen}
    assert await list_pilot_uids(wms, attention=True) == [lost]


async def test_page_of_pilots_has_their_number_and_a_cursor(wms: OperatorWms) -> None:
    for _ in range(3):
        await wms.pilot()
    await wms.copy_rows()
    part = await wms.client.list_pilots(limit=2)
    assert (len(part.pilots), part.total, part.after is None) == (2, 3, False)
    whole = await wms.client.list_pilots(limit=3)
    assert (len(whole.pilots), whole.total, whole.after) == (3, 3, None)


@pytest.mark.parametrize("request_name", REQUESTS)
async def test_requests_about_an_unknown_pilot_are_refused(
    wms: OperatorWms, request_name: str
) -> None:
    assert await get_refusal(REQUESTS[request_name](wms.client, uuid4())) == NOT_FOUND


@pytest.mark.parametrize("state", PilotState)
async def test_state_of_a_pilot_decides_which_requests_are_refused(
    wms: OperatorWms, state: PilotState
) -> None:
    answers = {}
    for name, send in REQUESTS.items():
        await wms.clear()
        pilot = await wms.pilot(state)
        await wms.copy_rows()
        answers[name] = await find_refusal(send(wms.client, pilot))
    assert answers == {name: CONFLICT if name in REFUSED[state] else None for name in REQUESTS}


async def test_stopped_pilot_drains(wms: OperatorWms) -> None:
    pilot = await wms.pilot()
    await wms.copy_rows()
    await wms.client.stop_pilot(pilot)
    await wms.client.stop_pilot(pilot)
    [shown] = (await wms.client.list_pilots()).pilots
    assert (shown.state, shown.stopping) == (DRAINING, True)


async def test_stop_request_leaves_a_lost_pilot_lost(wms: OperatorWms) -> None:
    pilot = await wms.pilot(LOST)
    await wms.copy_rows()
    await wms.client.stop_pilot(pilot)
    assert (await wms.client.get_pilot(pilot)).pilot.state is LOST


async def test_step_to_load_is_set_and_cleared(wms: OperatorWms) -> None:
    pilot = await wms.pilot()
    await wms.copy_rows()
    await wms.client.load_tool(pilot, LoadTool(step="decode"))
    assert (await wms.client.get_pilot(pilot)).pilot.to_load == "decode"
    await wms.client.load_tool(pilot, LoadTool(step=None))
    assert (await wms.client.get_pilot(pilot)).pilot.to_load is None


async def test_removed_pilot_is_not_listed_but_can_be_shown(wms: OperatorWms) -> None:
    pilot = await wms.pilot(LOST)
    await wms.copy_rows()
    await wms.client.remove_pilot(pilot)
    await wms.client.remove_pilot(pilot)
    assert await list_pilot_uids(wms) == []
    assert await list_pilot_uids(wms, attention=True) == []
    assert (await wms.client.get_pilot(pilot)).pilot.uid == pilot


async def test_loss_is_acknowledged_by_one_person(wms: OperatorWms) -> None:
    pilot = await wms.pilot(LOST)
    await wms.copy_rows()
    await wms.client.acknowledge_pilot(pilot, Acknowledge(by="ada"))
    await wms.client.acknowledge_pilot(pilot, Acknowledge(by="ada"))
    second = wms.client.acknowledge_pilot(pilot, Acknowledge(by="ben"))
    assert await get_refusal(second) == CONFLICT
    acknowledged = (await wms.client.get_pilot(pilot)).pilot.acknowledged
    assert acknowledged is not None
    assert acknowledged.by == "ada"


async def test_limits_are_listed_by_name(wms: OperatorWms) -> None:
    await wms.services.wms.set_limit(SetLimit(name="places", amount=2))
    await wms.services.wms.set_limit(SetLimit(name="crawler", amount=1))
    await wms.copy_rows()
    limits = (await wms.client.list_limits()).limits
    assert [(limit.name, limit.amount) for limit in limits] == [("crawler", 1), ("places", 2)]


async def list_priorities(wms: OperatorWms) -> list[tuple[str, str | None, float]]:
    return [
        (one.step, one.template, one.priority) for one in (await wms.client.list_steps()).priorities
    ]


async def test_priority_of_a_template_is_kept_beside_the_one_of_all_templates(
    wms: OperatorWms,
) -> None:
    for template, priority in ((None, 2.0), ("t", -1.0), ("other", 0.0)):
        new = RankStep(step="decode", template=template, priority=priority, reason="r", by="ada")
        await wms.client.prioritise_step(new)
    expected = [("decode", None, 2.0), ("decode", "other", 0.0), ("decode", "t", -1.0)]
    assert await list_priorities(wms) == expected
    [first, *_] = (await wms.client.list_steps()).priorities
    assert (first.reason, first.by) == ("r", "ada")
    await wms.client.prioritise_step(RankStep(step="decode", priority=0))
    assert await list_priorities(wms) == expected[1:], "0 for all templates removes the priority"


async def test_step_has_the_priority_that_applies_to_its_template(wms: OperatorWms) -> None:
    await wms.task(jobs=2)
    await wms.copy_rows()
    await wms.client.prioritise_step(RankStep(step="decode", priority=2))
    await wms.client.prioritise_step(RankStep(step="decode", template="t", priority=-1))
    answer = await wms.client.prioritise_step(RankStep(step="decode", template="u", priority=7))
    [step] = answer.steps
    assert (step.step, step.template, step.waiting) == ("decode", "t", 2)
    assert step.priority is not None
    assert step.priority.priority == -1
