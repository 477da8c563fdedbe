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


NESTED = '{"name": "d", "meta": ' + '{"x":' * 100_000 + "1" + "}" * 100_001
#: One body for each check of the contracts, and how the reason begins or what it contains. The
#: tests of the contracts try all values.
INVALID_BODIES: dict[str, tuple[str | bytes, str]] = {
    "name": (
        '{"name": "week/1"}',
        "body.name: 'week/1' has '/': a name has letters (A to Z, a to z), digits, blanks and",
    ),
    "large": (
        f'{{"name": "d", "meta": {{"x": "{"y" * 70_000}"}}}}',
        "body.meta: metadata may have 65536 bytes as JSON, and",
    ),
    "deep": (
        f'{{"name": "d", "meta": {{"x": {"[" * 40}1{"]" * 40}}}}}',
        "body.meta: metadata may nest objects and lists at most 32 levels deep",
    ),
    "URL": (
        '{"name": "d", "url": "data"}',
        "body.url: 'data' is not an absolute URL such as file:///data/input",
    ),
    "too deep for a parser": (NESTED, "lists and objects too deep"),
    "not UTF-8": (b"\xff", "it is not valid UTF-8"),
}


async def test_invalid_value_is_refused_with_a_plain_reason(
    dms: Dms, subtests: pytest.Subtests
) -> None:
    for case, (body, reason) in INVALID_BODIES.items():
        with subtests.test(case):
            answer = await dms.http.post(
                "/api/v1/datasets", content=body, headers={"content-type": "application/json"}
            )
            assert answer.status_code == 422
            assert reason in answer.json()["detail"]
    assert await dms.client.find_dataset_by_name("d") is None


async def test_period_or_run_that_ends_before_its_start_is_refused(dms: Dms) -> None:
    times = {"started_at": "2026-03-02T00:00:00Z", "ended_at": "2026-03-01T00:00:00Z"}
    for path, new in (("periods", {"name": "2026"}), ("runs", {"number": 1, "period": "2026"})):
        answer = await dms.http.post(f"/api/v1/{path}", json=new | times)
        assert answer.status_code == 422
        assert "ends (2026-03-01T00:00:00+00:00) before it starts" in answer.json()["detail"]
