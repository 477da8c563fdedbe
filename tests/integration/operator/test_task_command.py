"""`sluice task …` against a real operator service behind a real port."""

from uuid import uuid4

from tests.integration.operator.conftest import Operator
from tests.integration.operator.test_template_command import Command, sluice

__all__ = ["sluice"]


async def test_jobs_that_there_are_none_of_are_told_as_such(
    operator: Operator, sluice: Command
) -> None:
    task = str(uuid4())
    assert (
        await sluice("task", "jobs", task, "--state", "running") == "none of its jobs is running\n"
    )
    assert await sluice("task", "jobs", task) == "it has no job yet\n"
