"""Periods, runs and frames are registered, read and ended."""

from collections.abc import Coroutine
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from dms.db.periods import PERIODS, RUNS
from dms.usecases.runs.end_span import end_span
from dms.usecases.runs.register_frames import register_frames
from dms.usecases.runs.register_period import register_period
from dms.usecases.runs.register_run import register_run
from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Conflict, Forbidden, NotFound, Unprocessable
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.data.runs import NewFrame, NewPeriod, NewRun, Period, Run
from sluice.contracts.templates.matching import facts_of
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import PersonRequest, bind_request
from tests.integration.dms.conftest import Dms


async def test_period_and_run_of_a_data_set_are_validated(
    dms: Dms,
) -> None:
    for name in ("2026-spring", "2026-autumn"):
        await dms.client.register_period(NewPeriod(name=name))
    await dms.client.register_run(NewRun(number=7, period="2026-spring"))
    assert (await dms.client.register_dataset(NewDataset(name="a", run=7))).period == "2026-spring"
    with pytest.raises(Unprocessable, match="run 8 is not registered"):
        await dms.client.register_dataset(NewDataset(name="b", run=8))
    with pytest.raises(Unprocessable, match="period 'never' is not registered"):
        await dms.client.register_dataset(NewDataset(name="c", period="never"))
    with pytest.raises(
        Unprocessable, match="run 7 belongs to period '2026-spring', not '2026-autumn'"
    ):
        await dms.client.register_dataset(NewDataset(name="d", run=7, period="2026-autumn"))


async def test_periods_runs_and_frames_are_registered_once(dms: Dms) -> None:
    period = NewPeriod(name="2026", goal="first beams")
    assert await dms.client.register_period(period) == await dms.client.register_period(period)
    run = NewRun(number=7, period="2026", conditions={"field": 1.0})
    assert await dms.client.register_run(run) == await dms.client.register_run(run)
    frames = [NewFrame(number=number, meta={"n": number}) for number in range(5)]
    first, again = (
        await dms.client.register_frames(7, frames=frames),
        await dms.client.register_frames(7, frames=frames),
    )
    assert (first.new, again.new, again.known) == (5, 0, 5)
    assert [entry.runs for entry in await dms.client.list_periods()] == [1]
    assert [
        (entry.number, entry.frames) for entry in await dms.client.list_runs(period="2026")
    ] == [(7, 5)]
    assert [frame.number for frame in await dms.client.list_frames(7, after=1, limit=2)] == [2, 3]


async def test_contradicting_or_dangling_periods_runs_and_frames_are_refused(dms: Dms) -> None:
    await dms.client.register_period(NewPeriod(name="2026"))
    await dms.client.register_run(NewRun(number=7, period="2026"))
    await dms.client.register_frames(7, frames=[NewFrame(number=1)])
    with pytest.raises(Conflict, match="period '2026' is registered already, differently: goal"):
        await dms.client.register_period(NewPeriod(name="2026", goal="other"))
    with pytest.raises(Conflict, match="run 7 is registered already, differently: conditions"):
        await dms.client.register_run(NewRun(number=7, period="2026", conditions={"field": 2}))
    with pytest.raises(Conflict, match="frame 1 of run 7 is registered already, differently: meta"):
        await dms.client.register_frames(
            7, frames=[NewFrame(number=2), NewFrame(number=1, meta={"n": 1})]
        )
    assert len(await dms.client.list_frames(7)) == 1, "a part of the frames was registered"
    with pytest.raises(Unprocessable, match="period '2027' is not registered"):
        await dms.client.register_run(NewRun(number=8, period="2027"))
    with pytest.raises(Unprocessable, match="frames of run 7"):
        await dms.client.register_frames(7, frames=[NewFrame(number=3, file_id=12345)])
    for answer in (
        dms.client.register_frames(9, frames=[]),
        dms.client.list_frames(9),
        dms.client.list_runs(period="2027"),
    ):
        with pytest.raises(NotFound):
            await answer


async def test_period_and_run_can_be_ended_later(dms: Dms) -> None:
    started, ended = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
    period = NewPeriod(name="2026 spring", started_at=started)
    run = NewRun(number=7, period=period.name, started_at=started)
    await dms.client.register_period(period)
    await dms.client.register_run(run)
    assert (await dms.client.end_period(period.name, ended_at=ended)).ended_at == ended
    assert (await dms.client.end_run(7, ended_at=ended)).ended_at == ended
    assert (await dms.client.register_period(period)).ended_at == ended, (
        "a repeated registration lost the end"
    )
    assert (await dms.client.register_run(run)).ended_at == ended
    early = datetime(2026, 4, 1, tzinfo=UTC)
    with pytest.raises(Unprocessable, match=r"run 7 ends .* before it starts"):
        await dms.client.end_run(7, ended_at=early)
    with pytest.raises(Unprocessable, match=r"period '2026 spring' ends .* before it starts"):
        await dms.client.end_period(period.name, ended_at=early)
    assert (await dms.client.end_run(7, ended_at=None)).ended_at is None
    for answer in (
        dms.client.end_run(8, ended_at=ended),
        dms.client.end_period("2027", ended_at=ended),
    ):
        with pytest.raises(NotFound):
            await answer


async def test_period_and_run_may_be_ended_by_their_owner_and_the_shift(dms: Dms) -> None:
    ended, database = datetime(2026, 6, 1, tzinfo=UTC), dms.database
    with request_as("anna"):
        await register_period(database, NewPeriod(name="2026"))
        await register_run(database, NewRun(number=7, period="2026"))
        assert (await end_span(database, PERIODS, "2026", ended)).ended_at == ended
    await dms.client.register_period(NewPeriod(name="of before"))

    def ends(ended_at: datetime | None) -> list[Coroutine[Any, Any, Period | Run]]:
        return [
            end_span(database, PERIODS, "2026", ended_at),
            end_span(database, PERIODS, "of before", ended_at),
            end_span(database, RUNS, 7, ended_at),
        ]

    for end in ends(None):
        with (
            request_as("bo"),
            pytest.raises(Forbidden, match=r"only: you are bo, with the role subm"),
        ):
            await end
    for end in ends(ended):
        with request_as("cy", Role.SHIFT):
            assert (await end).ended_at == ended


async def test_frames_may_be_added_by_the_owner_of_the_run_and_the_shift(dms: Dms) -> None:
    with request_as("anna"):
        await register_period(dms.database, NewPeriod(name="2026"))
        await register_run(dms.database, NewRun(number=7, period="2026"))
        await register_frames(dms.database, 7, [NewFrame(number=1)])
    with (
        request_as("bo"),
        pytest.raises(Forbidden, match="frames can be added to run 7 by anna or"),
    ):
        await register_frames(dms.database, 7, [NewFrame(number=2)])
    with request_as("cy", Role.SHIFT):
        await register_frames(dms.database, 7, [NewFrame(number=3)])
    assert [frame.number for frame in await dms.client.list_frames(7)] == [1, 3]


def request_as(name: str, role: Role = Role.SUBMITTER) -> AbstractContextManager[None]:
    """Return a context in which the person makes a request."""
    return bind_request(PersonRequest(Person(name, role), uuid4()))


async def test_run_conditions_are_facts_of_its_data_sets(dms: Dms) -> None:
    await dms.client.register_period(NewPeriod(name="2026"))
    await dms.client.register_run(NewRun(number=7, period="2026", conditions={"energy": 27}))
    dataset = await dms.client.register_dataset(NewDataset(name="a", run=7, meta={"type": "raw"}))
    assert dataset.conditions == {"energy": 27}
    assert (await dms.client.get_dataset(dataset.uid)).conditions == {"energy": 27}
    assert facts_of(dataset)["conditions.energy"] == 27
    named = {"conditions.energy": 9}
    other = await dms.client.register_dataset(NewDataset(name="b", run=7, meta=named))
    assert facts_of(other)["conditions.energy"] == 9, "metadata does not take precedence"
    without = await dms.client.register_dataset(NewDataset(name="c"))
    assert without.conditions == {}
