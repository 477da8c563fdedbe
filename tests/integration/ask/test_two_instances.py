"""Two instances import at the same time, and one is slow."""

from sluice.contracts.common.states import AskItemState
from tests.integration.ask.conftest import HumanTasks
from wfms.ask.usecases.import_items import import_items


async def test_outdated_list_of_tasks_does_not_end_newer_tasks(human_tasks: HumanTasks) -> None:
    async def other_instance() -> None:
        human_tasks.task([b"x"])
        await human_tasks.import_items()

    human_tasks.rows.meanwhile = other_instance
    await import_items(human_tasks.context)
    assert await human_tasks.rows_of("SELECT state FROM items") == [(AskItemState.OPEN,)]
    assert [item.text for item in (await (await human_tasks.browser()).next()).items] == ["x"]


async def test_known_task_that_is_not_listed_any_more_ends(human_tasks: HumanTasks) -> None:
    uid = human_tasks.task([b"x"])
    await human_tasks.import_items()
    del human_tasks.rows.tasks[uid]
    await import_items(human_tasks.context)
    assert await human_tasks.rows_of("SELECT state FROM items") == [(AskItemState.WITHDRAWN,)]
