"""Requests about a step without human tasks are refused."""

import httpx
import pytest

from tests.integration.ask.conftest import HumanTasks

STEPS = "/api/v1/asking/steps"


@pytest.mark.parametrize("what", ["browsers", "links", "answers"])
async def test_unknown_step_has_no_browsers_links_or_answers(
    human_tasks: HumanTasks, what: str
) -> None:
    human_tasks.task([b"9:00"])
    await human_tasks.import_items()
    watching = (await human_tasks.browser()).http
    assert (await watching.get(f"{STEPS}/everyone/mass times/look/{what}")).is_success
    for group, template, step in (
        ("everyone", "nothing", "look"),
        ("everyone", "mass times", "nothing"),
        ("nobody", "mass times", "look"),
    ):
        refused = await watching.get(f"{STEPS}/{group}/{template}/{step}/{what}")
        assert refused.status_code == httpx.codes.NOT_FOUND
        assert (
            refused.json()["detail"]
            == f"template {template} of the group {group} has no human task {step}"
        )
