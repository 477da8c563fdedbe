"""Two instances that look at the same time, one of which is slow."""

from sluice.contracts.states import AskItemState
from tests.integration.ask.conftest import Asking
from wfms.ask.usecases.import_items import import_items


async def test_an_older_list_ends_nothing_that_came_after_it(asking: Asking) -> None:
    async def other_instance() -> None:
        asking.task([b"x"])
        await asking.take_in()

    asking.rows.meanwhile = other_instance
    await import_items(asking.context)
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.OPEN,)]
    assert [item.text for item in (await (await asking.browser()).next()).items] == ["x"]


async def test_what_was_known_before_the_list_and_is_not_in_it_ends(asking: Asking) -> None:
    uid = asking.task([b"x"])
    await asking.take_in()
    del asking.rows.tasks[uid]
    await import_items(asking.context)
    assert await asking.rows_of("SELECT state FROM items") == [(AskItemState.WITHDRAWN,)]
