"""The page of a task."""

from sluice.contracts.common.states import TaskState
from tests.integration.operator.conftest import Operator
from tests.integration.operator.scene import Scene


async def test_page_mentions_retries_only_if_attempts_can_be_retried(
    operator: Operator, scene: Scene
) -> None:
    tasks = operator.neighbours.tasks
    uid = next(task.uid for task in tasks.values() if task.state is TaskState.ACTIVE)
    for failed_attempts, again in ((3, True), (2, False)):
        tasks[uid] = tasks[uid].model_copy(
            update={"failed": 1, "quarantined": 1, "failed_attempts": failed_attempts}
        )
        page = (await operator.http.get(f"/tasks/{uid}")).text
        assert "</span> · spd · " in page, "the page shows state and template"
        assert f"{failed_attempts} attempts did not succeed" in page
        assert ("jobs are tried again as the template says" in page) is again
