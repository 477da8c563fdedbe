"""People show, set and remove limits on resources over all nodes: page, REST, command."""

import json
from collections.abc import AsyncIterator

import pytest

from sluice.contracts.common.problems import NotFound
from sluice.contracts.jobs.limits import LimitPeriod, ResourceLimit
from tests.conftest import DatabaseFactory
from tests.integration.operator.conftest import Operator
from tests.integration.operator.real_wms import use_real_wms
from tests.integration.operator.sluice_command import Command


@pytest.fixture
async def wms(operator: Operator, make_database: DatabaseFactory) -> AsyncIterator[None]:
    async with use_real_wms(operator, make_database):
        yield


@pytest.mark.usefixtures("wms")
async def test_commands_set_list_and_remove_limits(operator: Operator, sluice: Command) -> None:
    assert "no limit: resources are counted by the nodes" in await sluice("limit", "list")
    assert "crawler: 100, of which 0 are used now" in await sluice("limit", "set", "crawler", "100")
    assert "places: 1000/day" in await sluice("limit", "set", "places", "1000/day")
    [_, places] = (await operator.client.list_limits()).limits
    assert (places.name, places.period) == ("places", LimitPeriod.DAY)
    listed = json.loads(await sluice("limit", "list", "--json"))["limits"]
    assert [(limit["name"], limit["amount"]) for limit in listed] == [
        ("crawler", 100.0),
        ("places", 1000.0),
    ]
    assert "1000/day" in await sluice("limit", "list")
    assert "places: the limit was removed" in await sluice("limit", "remove", "places", "--yes")
    assert "there is no limit 'places'" in await sluice(
        "limit", "remove", "places", "--yes", code=1
    )


@pytest.mark.usefixtures("wms")
@pytest.mark.parametrize("amount", ["many", "5/week", "5/"])
async def test_malformed_limit_is_refused(operator: Operator, sluice: Command, amount: str) -> None:
    output = await sluice("limit", "set", "crawler", "--", amount, code=2)
    assert "is not a limit: give a number" in output
    assert (await operator.client.list_limits()).limits == []


@pytest.mark.usefixtures("wms")
async def test_invalid_name_or_amount_of_a_limit_is_refused(
    operator: Operator, sluice: Command
) -> None:
    output = await sluice("limit", "set", "9x", "5", code=1)
    assert "'9x' begins with '9': a resource's or label's name" in output
    assert "greater than or equal to 0.001" in await sluice("limit", "set", "x", "0", code=1)
    with pytest.raises(NotFound):
        await operator.client.remove_limit("none")


@pytest.mark.usefixtures("wms")
async def test_invalid_request_about_a_limit_is_answered_with_findings(operator: Operator) -> None:
    for content, finding in (
        (b'{"name": "9x", "amount": 5}', "body.name: '9x' begins with '9'"),
        (b'{"name": "x", "amount": 5, "amuont": 6}', "body.amuont: "),
        (b"", "body: "),
    ):
        answer = await operator.http.put("/api/v1/limits", content=content)
        assert answer.status_code == 422
        assert finding in answer.json()["findings"][0]["message"]
    assert (await operator.http.delete("/api/v1/limits/9x")).status_code == 422


@pytest.mark.usefixtures("wms")
@pytest.mark.parametrize("media_type", ["application/json", "text/plain", ""])
async def test_body_of_any_media_type_is_read_as_json(operator: Operator, media_type: str) -> None:
    headers = {"content-type": media_type} if media_type else {}
    answer = await operator.http.put(
        "/api/v1/limits", content=b'{"name": "licence", "amount": 3}', headers=headers
    )
    assert answer.status_code == 200
    assert [limit["name"] for limit in answer.json()["limits"]] == ["licence"]


async def test_first_page_shows_limits(operator: Operator) -> None:
    assert "Limits over all nodes" not in (await operator.http.get("/")).text
    operator.neighbours.limits["crawler"] = ResourceLimit(
        name="crawler", amount=100, used=97.5, waiting=12
    )
    page = (await operator.http.get("/")).text
    assert "Limits over all nodes" in page
    assert "97.5 of 100" in page
    assert "12 jobs" in page
