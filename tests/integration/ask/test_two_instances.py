"""Two instances import at the same time, and one is slow."""

from sluice.contracts.common.states import AskItemState
from tests.integration.ask.conftest import Asking
from wfms.ask.usecases.import_items import import_items


async def test_outdated_list_of_tasks_does_not_end_newer_tasks(asking: Asking) -> None:
    async def other_instance() -> None:
        asking.task([b"x"])
        await asking.take_in()

    asking.rows.meanwhile = other_instance
    await import_items(asking.context)
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.OPEN,)]
    assert [item.text for item in (await (await asking.browser()).next()).items] == ["x"]


async def test_known_task_that_is_not_listed_any_more_ends(asking: Asking) -> None:
    uid = asking.task([b"x"])
    await asking.take_in()
    del asking.rows.tasks[uid]
    await import_items(asking.context)
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.WITHDRAWN,)]
