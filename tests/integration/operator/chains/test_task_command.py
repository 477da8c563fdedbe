"""`sluice task …` with a real operator service on a real port."""

from uuid import uuid4

from tests.integration.operator.conftest import Operator
from tests.integration.operator.sluice_command import Command


async def test_command_reports_a_task_without_matching_jobs(
    operator: Operator, sluice: Command
) -> None:
    task = str(uuid4())
    assert (
        await sluice("task", "jobs", task, "--state", "running") == "none of its jobs is running\n"
    )
    assert await sluice("task", "jobs", task) == "it has no job yet\n"
