"""Periods, runs and frames."""

import pytest

from sluice.contracts.datasets import (
    NewDataset,
    NewFrame,
    NewPeriod,
    NewRun,
)
from sluice.contracts.problems import Conflict, NotFound, Unprocessable
from tests.integration.dms.conftest import Dms


async def test_period_and_run_of_a_data_set_are_checked_and_the_period_follows_from_the_run(
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


async def test_periods_runs_and_frames_are_registered_once_counted_and_read(dms: Dms) -> None:
    period = NewPeriod(name="2026", goal="first beams")
    assert await dms.client.register_period(period) == await dms.client.register_period(period)
    run = NewRun(number=7, period="2026", conditions={"field": 1.0})
    assert await dms.client.register_run(run) == await dms.client.register_run(run)
    frames = [NewFrame(number=number, meta={"n": number}) for number in range(5)]
    first, again = (
        await dms.client.register_frames(7, frames),
        await dms.client.register_frames(7, frames),
    )
    assert (first.new, again.new, again.known) == (5, 0, 5)
    assert [found.runs for found in await dms.client.periods()] == [1]
    assert [(found.number, found.frames) for found in await dms.client.runs(period="2026")] == [
        (7, 5)
    ]
    assert [frame.number for frame in await dms.client.frames(7, after=1, limit=2)] == [2, 3]


async def test_periods_runs_and_frames_that_differ_or_hang_in_the_air_are_refused(dms: Dms) -> None:
    await dms.client.register_period(NewPeriod(name="2026"))
    await dms.client.register_run(NewRun(number=7, period="2026"))
    await dms.client.register_frames(7, [NewFrame(number=1)])
    with pytest.raises(Conflict, match="period '2026' is registered already, differently: goal"):
        await dms.client.register_period(NewPeriod(name="2026", goal="other"))
    with pytest.raises(Conflict, match="run 7 is registered already, differently: conditions"):
        await dms.client.register_run(NewRun(number=7, period="2026", conditions={"field": 2}))
    with pytest.raises(Conflict, match="frame 1 of run 7 is registered already, differently: meta"):
        await dms.client.register_frames(7, [NewFrame(number=2), NewFrame(number=1, meta={"n": 1})])
    assert len(await dms.client.frames(7)) == 1, "all or nothing"
    with pytest.raises(Unprocessable, match="period '2027' is not registered"):
        await dms.client.register_run(NewRun(number=8, period="2027"))
    with pytest.raises(Unprocessable, match="frames of run 7"):
        await dms.client.register_frames(7, [NewFrame(number=3, file_id=12345)])
    for answer in (
        dms.client.register_frames(9, []),
        dms.client.frames(9),
        dms.client.runs(period="2027"),
    ):
        with pytest.raises(NotFound):
            await answer
