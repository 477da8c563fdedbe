"""Lists of pilots show the most important first, page by page, along indexes."""

from datetime import timedelta
from typing import Any

import pytest

from sluice.contracts.chains.attention import Acknowledge
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import PilotState, SandboxKind
from sluice.contracts.pilots.pilot_list import PilotList
from tests.integration.wms.query_plans import count_buffers, explain_query, list_nodes
from tests.integration.wms.wms_fixture import WmsFixture
from wms.db.pilots.pilot_pages import COUNT_PILOTS, SELECT_PILOTS, PilotQuery, find_page_places
from wms.db.pilots.pilots import see_pilot
from wms.usecases.pilots.acknowledge_pilot import acknowledge_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.lose_pilots import lose_pilots

INSERT = """
INSERT INTO pilots (uid, name, host, state, slots, resources, version, registered_at, seen_at,
    acknowledged_by, acknowledged_at)
SELECT gen_random_uuid(), $1 || n % $3, 'h', $2, 4, '{"cores": 4, "ram": 1000, "disk": 1000}', '1',
    time, time, $5, CASE WHEN $5::text IS NOT NULL THEN now() END
FROM generate_series(1, $4) AS n, LATERAL (
    SELECT now() - n * interval '1 minute' - $6::interval AS time) AS at
"""


async def add_pilots(
    wms: WmsFixture, name: str, state: PilotState, number: int, **other_columns: Any
) -> None:
    """Add pilots, of which the first was registered and seen last.

    ``names`` is the number of different names, ``by`` acknowledges the pilots, and ``age`` moves
    their times back.
    """
    age = other_columns.get("ago", timedelta())
    await wms.execute(
        INSERT,
        name,
        state,
        other_columns.get("names", number),
        number,
        other_columns.get("by"),
        age,
    )


async def list_pages(wms: WmsFixture, limit: int, **query: Any) -> list[PilotList]:
    page_list = [await list_pilots(wms.context, PilotQuery(limit=limit, **query))]
    while page_list[-1].after is not None:
        page_list.append(
            await list_pilots(
                wms.context, PilotQuery(limit=limit, after=page_list[-1].after, **query)
            )
        )
    return page_list


def list_names(page_list: list[PilotList]) -> list[str]:
    return [pilot.name for page in page_list for pilot in page.pilots]


async def add_pilots_in_every_state(wms: WmsFixture) -> list[str]:
    """Add pilots in every state, and return their names in the order of the list."""
    await add_pilots(wms, "active-", PilotState.ACTIVE, 3)
    await wms.execute("UPDATE pilots SET seen_at = now()")
    await add_pilots(wms, "lost-", PilotState.LOST, 4, ago=timedelta(days=9))
    await add_pilots(wms, "seen-", PilotState.LOST, 2, by="Ann", ago=timedelta(hours=1))
    await add_pilots(wms, "gone-", PilotState.GONE, 2, ago=timedelta(hours=2))
    await add_pilots(wms, "past-", PilotState.GONE, 2, ago=timedelta(days=2))
    await add_pilots(wms, "again-", PilotState.LOST, 1, ago=timedelta(days=2))
    await add_pilots(wms, "again-", PilotState.GONE, 1, ago=timedelta(hours=3))
    await lose_pilots(wms.context)
    listed = (
        "active-1 active-2 active-0 lost-1 lost-2 lost-3 lost-0 seen-1 seen-0 gone-1 gone-0 again-0"
    )
    return listed.split()


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
async def test_pages_of_any_size_list_every_pilot_once_in_order_of_importance(
    wms: WmsFixture, limit: int
) -> None:
    listed = await add_pilots_in_every_state(wms)
    page_list = await list_pages(wms, limit)
    assert list_names(page_list) == listed
    assert {page.total for page in page_list} == {len(listed)}
    assert {len(page.pilots) for page in page_list[:-1]} <= {limit}


async def test_pilot_has_the_sandbox_of_its_last_registration(wms: WmsFixture) -> None:
    uid = await wms.add_pilot(sandbox=SandboxKind.NAMESPACES)
    [page] = await list_pages(wms, 5)
    assert [pilot.sandbox for pilot in page.pilots] == [SandboxKind.NAMESPACES]
    await wms.add_pilot(uid=uid)
    [page] = await list_pages(wms, 5)
    assert [pilot.sandbox for pilot in page.pilots] == [SandboxKind.NONE]


async def test_pilots_that_need_attention_are_listed_and_counted_separately(
    wms: WmsFixture,
) -> None:
    await add_pilots_in_every_state(wms)
    page_list = await list_pages(wms, 3, attention=True)
    assert (list_names(page_list), page_list[0].total) == (
        ["lost-1", "lost-2", "lost-3", "lost-0"],
        4,
    )
    [named] = await list_pages(wms, 3, name="lost-2")
    assert (list_names([named]), named.total) == (["lost-2"], 1)
    await acknowledge_pilot(wms.context, named.pilots[0].uid, Acknowledge(by="Ann"))
    assert list_names(await list_pages(wms, 3, attention=True)) == ["lost-1", "lost-3", "lost-0"]


async def test_pilot_that_comes_or_goes_between_pages_moves_no_other_pilot(wms: WmsFixture) -> None:
    listed = await add_pilots_in_every_state(wms)
    first = await list_pilots(wms.context, PilotQuery(limit=2))
    await wms.add_pilot(name="new")
    await wms.execute(
        "UPDATE pilots SET seen_at = now() WHERE state = $1 AND name <> 'active-0'",
        PilotState.ACTIVE,
    )
    await wms.execute(
        "UPDATE pilots SET seen_at = now() - interval '1 hour' WHERE name = 'active-0'"
    )
    await lose_pilots(wms.context)
    rest = await list_pilots(wms.context, PilotQuery(limit=100, after=first.after))
    assert sorted(list_names([rest])) == sorted(listed[2:])


@pytest.mark.parametrize(
    "after",
    ["x", "9/2026-01-01/x", "0/2026-01-01", "-1/infinity/00000000-0000-0000-0000-000000000000"],
)
async def test_invalid_cursor_is_refused(wms: WmsFixture, after: str) -> None:
    with pytest.raises(Unprocessable, match="is not a cursor of this list"):
        await list_pilots(wms.context, PilotQuery(after=after, limit=5))


async def test_lost_pilot_that_started_again_needs_no_attention(
    wms: WmsFixture,
) -> None:
    for name in "abc":
        await wms.add_pilot(name=name)
    await wms.add_pilot(name="a")
    await wms.execute("UPDATE pilots SET seen_at = now() - interval '2 days'")
    await wms.add_pilot(name="a")
    await lose_pilots(wms.context)
    assert set(list_names(await list_pages(wms, 100, attention=True))) == {"b", "c"}
    await wms.add_pilot(name="c")
    assert list_names(await list_pages(wms, 100, attention=True)) == ["b"]
    assert list_names(await list_pages(wms, 100)) == ["c", "a", "b"]


async def test_restart_seen_by_the_previous_release_is_recorded_at_the_next_check(
    wms: WmsFixture,
) -> None:
    await add_pilots(wms, "a-", PilotState.LOST, 3, names=1, ago=timedelta(days=2))
    assert len(list_names(await list_pages(wms, 100, attention=True))) == 3
    await lose_pilots(wms.context)
    assert len(list_names(await list_pages(wms, 100, attention=True))) == 1


async def test_page_costs_the_same_with_any_number_of_former_pilots(wms: WmsFixture) -> None:
    """50 000 pilots ended long ago, and half of them were lost and started again."""
    await add_pilots(wms, "gone-", PilotState.GONE, 25_000, names=500, ago=timedelta(days=2))
    await add_pilots(wms, "again-", PilotState.LOST, 25_000, names=500, ago=timedelta(days=2))
    await add_pilots(wms, "again-", PilotState.ACTIVE, 500)
    await add_pilots(wms, "lost-", PilotState.LOST, 200, ago=timedelta(days=90))
    await wms.execute("UPDATE pilots SET seen_at = now() WHERE state = $1", PilotState.ACTIVE)
    await lose_pilots(wms.context)
    await wms.execute("VACUUM ANALYZE pilots")
    for numbers, count in COUNT_PILOTS.items():
        page = await explain_query(wms, SELECT_PILOTS, None, 51, *find_page_places(None, numbers))
        for tree in (page, await explain_query(wms, count, None)):
            assert "pilots" not in {
                node["Relation Name"]
                for node in list_nodes(tree)
                if node["Node Type"] == "Seq Scan"
            }
            assert count_buffers(tree) < 1500, "a page reads too much of 52 000 rows"


async def test_heartbeats_update_no_index(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    async with wms.database.transaction() as transaction:
        await see_pilot(transaction.connection, pilot)
        updates = (
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'pilots'"
        )
        row = await transaction.connection.fetchrow(updates)
    assert row is not None
    assert row["n_tup_upd"] == row["n_tup_hot_upd"] > 0
