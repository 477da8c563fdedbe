"""Routes refuse invalid values with a plain reason."""

import pytest

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.data.runs import NewPeriod, NewRun
from tests.integration.dms.conftest import Dms


async def test_values_that_the_database_cannot_store_are_refused(dms: Dms) -> None:
    with pytest.raises(Unprocessable, match="cannot be stored"):
        await dms.client.register_dataset(NewDataset(name="nul", meta={"text": "a\x00b"}))
    await dms.client.register_period(NewPeriod(name="2026"))
    with pytest.raises(Unprocessable, match="cannot be stored"):
        await dms.client.register_run(NewRun(number=1 << 63, period="2026"))


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            '{"name": "week/1"}',
            "body.name: 'week/1' has '/': a name has letters (A to Z, a to z), digits, blanks and",
        ),
        (
            f'{{"name": "d", "meta": {{"x": "{"y" * 70_000}"}}}}',
            "body.meta: metadata may have 65536 bytes as JSON, and",
        ),
        (
            f'{{"name": "d", "meta": {{"x": {"[" * 40}1{"]" * 40}}}}}',
            "body.meta: metadata may nest objects and lists 32 deep",
        ),
        (
            '{"name": "d", "url": "data"}',
            "body.url: 'data' is not an absolute URL such as file:///data/input",
        ),
    ],
    ids=["name", "large", "deep", "url"],
)
async def test_invalid_value_is_refused_with_a_plain_reason(
    dms: Dms, body: str, sentence: str
) -> None:
    answer = await dms.http.post(
        "/api/v1/datasets", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(sentence)
    assert await dms.client.find_dataset_by_name("d") is None


async def test_body_that_nests_too_deep_is_refused(dms: Dms) -> None:
    body = '{"name": "d", "meta": ' + '{"x":' * 100_000 + "1" + "}" * 100_001
    answer = await dms.http.post(
        "/api/v1/datasets", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert "lists and objects too deep" in answer.json()["detail"]


async def test_body_that_is_not_utf_8_is_refused(dms: Dms) -> None:
    answer = await dms.http.post(
        "/api/v1/datasets", content=b"\xff", headers={"content-type": "application/json"}
    )
    assert (answer.status_code, "it is not valid UTF-8" in answer.json()["detail"]) == (422, True)


async def test_period_or_run_that_ends_before_its_start_is_refused(dms: Dms) -> None:
    times = {"started_at": "2026-03-02T00:00:00Z", "ended_at": "2026-03-01T00:00:00Z"}
    for path, new in (("periods", {"name": "2026"}), ("runs", {"number": 1, "period": "2026"})):
        answer = await dms.http.post(f"/api/v1/{path}", json=new | times)
        assert answer.status_code == 422
        assert "ends (2026-03-01T00:00:00+00:00) before it starts" in answer.json()["detail"]
