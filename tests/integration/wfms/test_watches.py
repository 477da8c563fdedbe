"""Rounds of the watcher: every watch is looked at, however many there are, and is free for the next
round."""

from uuid import uuid4

import pytest

from sluice.contracts.chains import Watch
from sluice.contracts.states import WatchKind, WatchState
from sluice.servicekit.http import Health, create_app
from sluice.servicekit.metrics import ServiceMetrics
from tests.integration.wfms.world import World
from wfms.watcher.api.watches import watches_router
from wfms.watcher.usecases.accept_watch import accept_watch
from wfms.watcher.usecases.follow_watches import PAGE

CLAIMED = "SELECT 1 FROM watches WHERE claim_token IS NOT NULL"
NOT_REPORTED = "SELECT 1 FROM watches WHERE NOT reported"


def new_watch(kind: WatchKind) -> Watch:
    """Of a task or data set that nobody else knows."""
    return Watch(
        kind=kind,
        uid=uuid4(),
        chain_uid=uuid4(),
        step="first",
        dat_in_uid=uuid4(),
        dat_out_uid=uuid4(),
    )


async def watches(world: World, count: int, kind: WatchKind) -> None:
    for _ in range(count):
        await accept_watch(world.databases["wfms.watcher"], new_watch(kind))


@pytest.mark.parametrize("count", [1, PAGE, PAGE + 1, 2 * PAGE + 1])
async def test_all_that_have_ended_are_told_in_one_round(world: World, count: int) -> None:
    await watches(world, count, WatchKind.TASK)
    await world.rows(
        "wfms.watcher",
        "UPDATE watches SET state = $1, ended_at = now() RETURNING uid",
        WatchState.FINISHED,
    )
    await world.follow()
    assert await world.rows("wfms.watcher", NOT_REPORTED) == []


@pytest.mark.parametrize("count", [1, PAGE + 1])
async def test_what_goes_on_is_free_for_the_next_round(world: World, count: int) -> None:
    await watches(world, count, WatchKind.UPLOAD)
    await world.follow()
    assert len(await world.rows("wfms.watcher", NOT_REPORTED)) == count
    assert await world.rows("wfms.watcher", CLAIMED) == []


@pytest.mark.parametrize(("kind", "wakes"), [(WatchKind.TASK, 0), (WatchKind.UPLOAD, 1)])
async def test_of_what_is_new_only_an_upload_is_looked_at_at_once(
    world: World, kind: WatchKind, wakes: int
) -> None:
    """A task is followed before it is sent; an upload may have ended by then."""
    woken: list[None] = []
    database = world.databases["wfms.watcher"]
    world.links.apps["wfms.watcher"] = create_app(
        "wfms.watcher",
        [watches_router(database, wake=lambda: woken.append(None))],
        health=Health({}),
        metrics=ServiceMetrics(),
    )
    await world.watcher.watch(new_watch(kind))
    assert len(woken) == wakes
