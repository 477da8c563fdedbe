"""Rounds of the watcher check every watch and return it for the next round."""

from uuid import uuid4

import pytest

from sluice.contracts.chains.chains import Watch
from sluice.contracts.common.states import WatchKind, WatchState
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.integration.wfms.wfms_fixture import WfmsFixture
from wfms.watcher.api.dependencies import WatcherWakes
from wfms.watcher.api.watches import router
from wfms.watcher.usecases.accept_watch import accept_watch
from wfms.watcher.usecases.follow_watches import PAGE

CLAIMED = "SELECT 1 FROM watches WHERE claim_token IS NOT NULL"
NOT_REPORTED = "SELECT 1 FROM watches WHERE NOT reported"


def make_watch(kind: WatchKind) -> Watch:
    """Return a watch of a task or data set that no other service knows."""
    return Watch(
        kind=kind,
        uid=uuid4(),
        chain_uid=uuid4(),
        step="first",
        dat_in_uid=uuid4(),
        dat_out_uid=uuid4(),
    )


async def add_watches(wfms: WfmsFixture, count: int, kind: WatchKind) -> None:
    for _ in range(count):
        await accept_watch(wfms.databases["wfms.watcher"], make_watch(kind))


@pytest.mark.parametrize("count", [1, PAGE, PAGE + 1, 2 * PAGE + 1])
async def test_all_ended_watches_are_reported_in_one_round(wfms: WfmsFixture, count: int) -> None:
    await add_watches(wfms, count, WatchKind.TASK)
    await wfms.fetch_rows(
        "wfms.watcher",
        "UPDATE watches SET state = $1, ended_at = now() RETURNING uid",
        WatchState.FINISHED,
    )
    await wfms.follow_watches()
    assert await wfms.fetch_rows("wfms.watcher", NOT_REPORTED) == []


@pytest.mark.parametrize("count", [1, PAGE + 1])
async def test_unfinished_watches_are_unclaimed_after_the_round(
    wfms: WfmsFixture, count: int
) -> None:
    await add_watches(wfms, count, WatchKind.UPLOAD)
    await wfms.follow_watches()
    assert len(await wfms.fetch_rows("wfms.watcher", NOT_REPORTED)) == count
    assert await wfms.fetch_rows("wfms.watcher", CLAIMED) == []


@pytest.mark.parametrize(("kind", "wakes"), [(WatchKind.TASK, 0), (WatchKind.UPLOAD, 1)])
async def test_new_watch_wakes_the_watcher_only_for_an_upload(
    wfms: WfmsFixture, kind: WatchKind, wakes: int
) -> None:
    """A task is watched before it is sent, while an upload may already have ended."""
    wake_ups: list[None] = []
    database = wfms.databases["wfms.watcher"]
    wfms.links.apps["wfms.watcher"] = create_app(
        "wfms.watcher",
        [router],
        health=Health({}),
        metrics=ServiceMetrics(),
        provide=[database, WatcherWakes(upload=lambda: wake_ups.append(None))],
    )
    await wfms.watcher.watch(make_watch(kind))
    assert len(wake_ups) == wakes
