"""`sluice task …` with a real operator service on a real port."""

from uuid import uuid4

from sluice.contracts.common.states import TaskMode
from tests.integration.operator.scene import Counts, Scene
from tests.integration.operator.sluice_command import Command


async def test_command_reports_a_task_without_matching_jobs(scene: Scene, sluice: Command) -> None:
    status = scene.task(
        uuid4(), "decode", mode=TaskMode.MAP, counts=Counts(), started=scene.now, ended=None
    )
    task = str(status.uid)
    assert (
        await sluice("task", "jobs", task, "--state", "running") == "none of its jobs is running\n"
    )
    assert await sluice("task", "jobs", task) == "it has no job yet\n"
