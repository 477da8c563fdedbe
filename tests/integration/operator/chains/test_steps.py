"""People see and rank steps over all chains: page, REST, command."""

import json
import re
from datetime import UTC, datetime

import pytest

from sluice.contracts.common.problems import NotFound
from sluice.contracts.jobs.steps import DISABLED, SetStepPriority, StepLoad, StepPriority
from sluice.contracts.templates.templates import NewTemplate
from tests.integration.operator.conftest import Operator
from tests.integration.operator.sluice_command import Command

#: The template belongs to a one-off run and is not published.
BUSY = StepLoad(
    step="ocr-layout",
    template="volume",
    tasks=2,
    waiting=1204,
    in_flight=8,
    pilots=2,
    oldest=datetime.now(UTC),
    timed=40,
    mean=1.25,
)


async def test_steps_of_published_templates_are_listed_beside_steps_with_tasks(
    operator: Operator, spd_text: str
) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    operator.neighbours.steps = [BUSY]
    steps = (await operator.client.list_steps()).steps
    assert BUSY in steps
    idle = [load for load in steps if load.template == "spd"]
    assert [load.step for load in idle] == sorted(load.step for load in idle)
    assert {(load.waiting, load.mean) for load in idle} == {(0, None)}
    await operator.client.prioritise_step(idle[0].step, SetStepPriority(priority=3))
    assert [load.priority.priority for load in (await operator.client.list_steps()).steps
            if load.priority] == [3], "an idle step may have a priority, too"  # fmt: skip


async def test_steps_of_one_off_runs_are_listed_only_while_they_have_work(
    operator: Operator,
) -> None:
    ended = [
        BUSY.model_copy(
            update={
                "template": f"run-{n}",
                "tasks": 0,
                "waiting": 0,
                "in_flight": 0,
                "oldest": None,
            }
        )
        for n in range(30)
    ]
    operator.neighbours.steps = [*ended, BUSY]
    assert (await operator.client.list_steps()).steps == [BUSY]
    page = (await operator.http.get("/steps")).text
    assert "volume" in page
    assert "run-" not in page


async def test_unknown_step_is_refused_with_the_known_steps(
    operator: Operator,
) -> None:
    operator.neighbours.steps = [BUSY]
    with pytest.raises(NotFound, match=r"no step 'layout' in any template; steps are: ocr-layout"):
        await operator.client.prioritise_step("layout", SetStepPriority(priority=1))
    with pytest.raises(NotFound, match="no step 'ocr-layout' in template 'maps'"):
        await operator.client.prioritise_step(
            "ocr-layout", SetStepPriority(priority=1, template="maps")
        )
    assert operator.neighbours.priorities == {}


async def test_page_disables_and_enables_a_step(operator: Operator) -> None:
    operator.neighbours.steps = [BUSY]
    page = (await operator.http.get("/steps")).text
    assert "1\u202f204" in page
    assert "1.2 s" in page
    token = re.findall(r'name="csrf_token" value="([^"]+)"', page)[0]
    form = {"csrf_token": token, "step": "ocr-layout", "template": "volume"}
    answer = await operator.http.post("/steps", data={**form, "switch": "-1"})
    assert answer.status_code == 303
    assert operator.neighbours.priorities["ocr-layout", "volume"].priority == DISABLED
    assert "no more are started" in (await operator.http.get("/steps")).text
    for priority in ("-3", "much", ""):
        await operator.http.post("/steps", data={**form, "priority": priority})
        assert "Nothing was changed: a priority is" in (await operator.http.get("/steps")).text
    await operator.http.post("/steps", data={**form, "switch": "0"})
    assert operator.neighbours.priorities["ocr-layout", "volume"].priority == 0


async def test_steps_page_links_only_published_templates(operator: Operator, spd_text: str) -> None:
    for name in ("spd", "off"):
        await operator.client.store_template(NewTemplate(name=name, cwl=spd_text))
    await operator.client.disable_template("off")
    operator.neighbours.steps = [BUSY, BUSY.model_copy(update={"template": "off"})]
    for address in ("/steps", "/steps/live"):
        page = (await operator.http.get(address)).text.replace('\\"', '"')
        links = set(re.findall(r'href="(/templates/[^"]+)"', page))
        assert links == {"/templates/spd", "/templates/off"}, "the template of a run has no link"
        assert "volume" in page
    for link in links:
        assert (await operator.http.get(link)).status_code == 200


async def test_commands_change_and_show_the_priority_of_a_step(
    operator: Operator, sluice: Command
) -> None:
    operator.neighbours.steps = [BUSY]
    output = await sluice("step", "priority", "ocr-layout", "-1", "--reason", "new model")
    assert "step ocr-layout is disabled by" in output
    assert "(new model): none of its jobs is leased; running jobs finish" in output
    assert "2.5 is added" in await sluice("step", "priority", "ocr-layout", "2.5")
    assert "is disabled" in await sluice("step", "disable", "ocr-layout", "--template", "volume")
    assert operator.neighbours.priorities["ocr-layout", "volume"].is_disabled
    assert "no priority of its own" in await sluice("step", "enable", "ocr-layout")
    [load] = json.loads(await sluice("step", "list", "--json"))["steps"]
    assert (load["waiting"], load["mean"]) == (1204, 1.25)
    assert "1204" in await sluice("step", "list")


async def test_disabled_step_with_waiting_jobs_needs_attention(
    operator: Operator, sluice: Command
) -> None:
    disabled = StepPriority(step="ocr-layout", priority=DISABLED, by="Ann", since=datetime.now(UTC))
    operator.neighbours.steps = [BUSY.model_copy(update={"priority": disabled})]
    sentence = "Step ocr-layout is disabled by Ann"
    page = (await operator.http.get("/")).text
    assert sentence in page
    assert 'href="/steps"' in page
    [notice] = [n for n in (await operator.client.list_notices()).notices if n.page == "steps"]
    assert notice.text.startswith(sentence)
    assert sentence in " ".join((await sluice("attention", "list")).split())
    operator.neighbours.steps = [BUSY]
    assert sentence not in (await operator.http.get("/")).text
