"""Lists of pilots: those that matter most first, page by page, along indexes however many there
have been."""

from datetime import timedelta
from typing import Any

import pytest

from sluice.contracts.attention import Acknowledge
from sluice.contracts.pilot_list import PilotList
from sluice.contracts.problems import Unprocessable
from sluice.contracts.states import PilotState, SandboxKind
from tests.integration.wms.stage import Stage
from tests.integration.wms.test_query_plans import buffers, nodes, plan
from wms.db.pilot_pages import COUNT_PILOTS, SELECT_PILOTS, PilotQuery, page_places
from wms.db.pilots import see_pilot
from wms.usecases.acknowledge_pilot import acknowledge_pilot
from wms.usecases.list_pilots import list_pilots
from wms.usecases.lose_pilots import lose_pilots

INSERT = """
INSERT INTO pilots (uid, name, host, state, slots, resources, version, registered_at, seen_at,
    acknowledged_by, acknowledged_at)
SELECT gen_random_uuid(), $1 || n % $3, 'h', $2, 4, '{"cores": 4, "ram": 1000, "disk": 1000}', '1',
    time, time, $5, CASE WHEN $5::text IS NOT NULL THEN now() END
FROM generate_series(1, $4) AS n, LATERAL (
    SELECT now() - n * interval '1 minute' - $6::interval AS time) AS at
"""


async def add(stage: Stage, name: str, state: PilotState, number: int, **also: Any) -> None:
    """The first is the one that was registered and seen last. ``names``: under so many names;
    ``by``: acknowledged; ``ago``: that long before."""
    ago = also.get("ago", timedelta())
    await stage.execute(INSERT, name, state, also.get("names", number), number, also.get("by"), ago)


async def pages(stage: Stage, limit: int, **query: Any) -> list[PilotList]:
    found = [await list_pilots(stage.context, PilotQuery(limit=limit, **query))]
    while found[-1].after is not None:
        found.append(
            await list_pilots(
                stage.context, PilotQuery(limit=limit, after=found[-1].after, **query)
            )
        )
    return found


def names(found: list[PilotList]) -> list[str]:
    return [pilot.name for page in found for pilot in page.pilots]


async def every_kind(stage: Stage) -> list[str]:
    """In the order in which they are listed."""
    await add(stage, "active-", PilotState.ACTIVE, 3)
    await stage.execute("UPDATE pilots SET seen_at = now()")
    await add(stage, "lost-", PilotState.LOST, 4, ago=timedelta(days=9))
    await add(stage, "seen-", PilotState.LOST, 2, by="Ann", ago=timedelta(hours=1))
    await add(stage, "gone-", PilotState.GONE, 2, ago=timedelta(hours=2))
    await add(stage, "past-", PilotState.GONE, 2, ago=timedelta(days=2))
    await add(stage, "again-", PilotState.LOST, 1, ago=timedelta(days=2))
    await add(stage, "again-", PilotState.GONE, 1, ago=timedelta(hours=3))
    await lose_pilots(stage.context)
    listed = (
        "active-1 active-2 active-0 lost-1 lost-2 lost-3 lost-0 seen-1 seen-0 gone-1 gone-0 again-0"
    )
    return listed.split()


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
async def test_pages_of_any_size_have_every_pilot_once_and_those_first_that_matter_most(
    stage: Stage, limit: int
) -> None:
    listed = await every_kind(stage)
    found = await pages(stage, limit)
    assert names(found) == listed
    assert {page.total for page in found} == {len(listed)}
    assert {len(page.pilots) for page in found[:-1]} <= {limit}


async def test_who_knows_of_no_pages_is_told_of_none(stage: Stage) -> None:
    """The release before refuses an answer that says more."""
    listed = await every_kind(stage)
    found = await list_pilots(stage.context)
    assert (names([found]), set(found.model_dump(mode="json"))) == (listed, {"pilots"})


async def test_who_knows_of_pages_is_told_of_sandboxes_too(stage: Stage) -> None:
    """As the pilot said when it registered last; the release before refuses an answer with one."""
    uid = await stage.add_pilot(sandbox=SandboxKind.NAMESPACES)
    [[page], former] = await pages(stage, 5), await list_pilots(stage.context)
    assert [pilot.sandbox for pilot in page.pilots] == [SandboxKind.NAMESPACES]
    assert "sandbox" not in former.model_dump(mode="json")["pilots"][0]
    await stage.add_pilot(uid=uid)
    [page] = await pages(stage, 5)
    assert [pilot.sandbox for pilot in page.pilots] == [SandboxKind.NONE]


async def test_those_that_need_attention_are_listed_alone_and_counted(stage: Stage) -> None:
    await every_kind(stage)
    found = await pages(stage, 3, attention=True)
    assert (names(found), found[0].total) == (["lost-1", "lost-2", "lost-3", "lost-0"], 4)
    [named] = await pages(stage, 3, name="lost-2")
    assert (names([named]), named.total) == (["lost-2"], 1)
    await acknowledge_pilot(stage.context, named.pilots[0].uid, Acknowledge(by="Ann"))
    assert names(await pages(stage, 3, attention=True)) == ["lost-1", "lost-3", "lost-0"]


async def test_a_pilot_that_comes_or_goes_meanwhile_moves_no_other(stage: Stage) -> None:
    listed = await every_kind(stage)
    first = await list_pilots(stage.context, PilotQuery(limit=2))
    await stage.add_pilot(name="new")
    await stage.execute(
        "UPDATE pilots SET seen_at = now() WHERE state = $1 AND name <> 'active-0'",
        PilotState.ACTIVE,
    )
    await stage.execute(
        "UPDATE pilots SET seen_at = now() - interval '1 hour' WHERE name = 'active-0'"
    )
    await lose_pilots(stage.context)
    rest = await list_pilots(stage.context, PilotQuery(limit=100, after=first.after))
    assert sorted(names([rest])) == sorted(listed[2:])


@pytest.mark.parametrize(
    "after",
    ["x", "9/2026-01-01/x", "0/2026-01-01", "-1/infinity/00000000-0000-0000-0000-000000000000"],
)
async def test_what_is_no_cursor_is_refused(stage: Stage, after: str) -> None:
    with pytest.raises(Unprocessable, match="is no cursor of this list"):
        await list_pilots(stage.context, PilotQuery(after=after, limit=5))


async def test_lost_pilot_that_started_again_before_or_after_it_was_lost_needs_nobody(
    stage: Stage,
) -> None:
    for name in "abc":
        await stage.add_pilot(name=name)
    await stage.add_pilot(name="a")
    await stage.execute("UPDATE pilots SET seen_at = now() - interval '2 days'")
    await stage.add_pilot(name="a")
    await lose_pilots(stage.context)
    assert set(names(await pages(stage, 100, attention=True))) == {"b", "c"}
    await stage.add_pilot(name="c")
    assert names(await pages(stage, 100, attention=True)) == ["b"]
    assert names(await pages(stage, 100)) == ["c", "a", "b"]


async def test_what_a_wms_of_the_release_before_saw_start_again_is_noted_with_the_next_look(
    stage: Stage,
) -> None:
    await add(stage, "a-", PilotState.LOST, 3, names=1, ago=timedelta(days=2))
    assert len(names(await pages(stage, 100, attention=True))) == 3
    await lose_pilots(stage.context)
    assert len(names(await pages(stage, 100, attention=True))) == 1


async def test_a_page_costs_the_same_however_many_pilots_there_have_been(stage: Stage) -> None:
    """50 000 that ended long ago, half of them lost and started again under the same names."""
    await add(stage, "gone-", PilotState.GONE, 25_000, names=500, ago=timedelta(days=2))
    await add(stage, "again-", PilotState.LOST, 25_000, names=500, ago=timedelta(days=2))
    await add(stage, "again-", PilotState.ACTIVE, 500)
    await add(stage, "lost-", PilotState.LOST, 200, ago=timedelta(days=90))
    await stage.execute("UPDATE pilots SET seen_at = now() WHERE state = $1", PilotState.ACTIVE)
    await lose_pilots(stage.context)
    await stage.execute("VACUUM ANALYZE pilots")
    for numbers, count in COUNT_PILOTS.items():
        page = await plan(stage, SELECT_PILOTS, None, 51, *page_places(None, numbers))
        for tree in (page, await plan(stage, count, None)):
            assert "pilots" not in {
                node["Relation Name"] for node in nodes(tree) if node["Node Type"] == "Seq Scan"
            }
            assert buffers(tree) < 1500, "of 52 000 rows"


async def test_heartbeats_write_into_no_index(stage: Stage) -> None:
    pilot = await stage.add_pilot()
    async with stage.database.transaction() as transaction:
        await see_pilot(transaction.connection, pilot)
        updates = (
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'pilots'"
        )
        row = await transaction.connection.fetchrow(updates)
    assert row is not None
    assert row["n_tup_upd"] == row["n_tup_hot_upd"] > 0
