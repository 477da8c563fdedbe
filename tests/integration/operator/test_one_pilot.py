"""The page of a pilot, and the commands that stop it and remove it from the lists."""

import json
import re
from uuid import uuid4

import pytest

from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.steps import StepLoad
from sluice.contracts.pilots.pilot_list import Pilot
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.scene import Scene
from tests.integration.operator.sluice_command import Command


def find_pilot_in_state(operator: Operator, state: PilotState) -> Pilot:
    return next(pilot for pilot in operator.neighbours.pilots if pilot.state is state)


async def test_page_shows_the_jobs_of_a_pilot_and_stops_it(
    operator: Operator, scene: Scene
) -> None:
    pilot = find_pilot_in_state(operator, PilotState.ACTIVE)
    address = f"/pilots/{pilot.uid}"
    assert address in (await operator.http.get("/")).text
    page = await operator.http.get(address)
    for shown in (pilot.host, "ocr-transcribe", "the page is not an image", "Its last 4 attempts"):
        assert shown in page.text
    assert "<dt>Version</dt><dd>0.2.0</dd>" in page.text
    form = {"csrf_token": read_token(page)}
    assert (await operator.http.post(f"{address}/stop", data=form)).status_code == 303
    page = await operator.http.get(address)
    assert ">stopping<" in page.text
    assert 'id="stop"' not in page.text
    await operator.http.post(f"{address}/remove", data=form)
    assert "so it stays on the lists: stop it first" in (await operator.http.get(address)).text


async def test_pilot_shows_the_share_of_failed_attempts(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    pilot = find_pilot_in_state(operator, PilotState.ACTIVE)
    page = (await operator.http.get(f"/pilots/{pilot.uid}")).text
    assert "6 of 206 attempts" in page
    assert "36 s" in page
    assert "51 %" not in page
    assert "6 h" not in page
    assert "6 of 206 attempts" in await sluice("pilot", "show", pilot.name)


async def test_pilots_page_lists_all_pilots(operator: Operator, scene: Scene) -> None:
    page = (await operator.http.get("/pilots")).text
    assert {pilot.name for pilot in operator.neighbours.pilots} == set(
        re.findall(r'<th scope="row"><a href="/pilots/[^"]*">([^<]+)</a>', page)
    )
    assert page.count(", version 0.2.0") == len(operator.neighbours.pilots)
    parts = (await operator.http.get("/pilots/live")).json()["parts"]
    assert all(pilot.name in parts["pilots"] for pilot in operator.neighbours.pilots)


async def test_lost_pilot_can_be_removed_from_the_lists(operator: Operator, scene: Scene) -> None:
    lost = find_pilot_in_state(operator, PilotState.LOST)
    page = await operator.http.get(f"/pilots/{lost.uid}")
    assert ">failed<" in page.text
    answer = await operator.http.post(
        f"/pilots/{lost.uid}/remove", data={"csrf_token": read_token(page)}
    )
    assert answer.headers["location"] == "/pilots"
    assert f"/pilots/{lost.uid}" not in (await operator.http.get("/pilots")).text
    assert (await operator.http.get(f"/pilots/{lost.uid}")).status_code == 200
    assert (await operator.http.get(f"/pilots/{uuid4()}")).status_code == 404
    with pytest.raises(NotFound):
        await operator.client.stop_pilot(uuid4())


async def test_commands_show_stop_and_remove_a_pilot(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    pilot, lost = (
        find_pilot_in_state(operator, PilotState.ACTIVE),
        find_pilot_in_state(operator, PilotState.LOST),
    )
    output = await sluice("pilot", "show", pilot.name)
    assert f"{pilot.name} on {pilot.host}: " in output
    assert f"pilot {pilot.uid}, version 0.2.0, since " in output
    assert "failed: the page is not an image" in output
    assert json.loads(await sluice("pilot", "show", pilot.name, "--json"))["attempts"] == 4
    assert "other pilots get them" in await sluice("pilot", "stop", pilot.name, "--yes")
    listed = await sluice("pilot", "list")
    assert "stopping" in listed
    assert "0.2.0" in listed
    assert "stop it first" in await sluice("pilot", "remove", str(pilot.uid), "--yes", code=1)
    assert "no longer listed" in await sluice("pilot", "remove", str(lost.uid), "--yes")


async def test_page_and_command_switch_a_pilot_to_a_step(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    operator.neighbours.steps = [
        StepLoad(step=step, template="volume", tasks=1) for step in ("layout", "export")
    ]
    pilot = find_pilot_in_state(operator, PilotState.ACTIVE)
    address = f"/pilots/{pilot.uid}"
    form = {"csrf_token": read_token(await operator.http.get(address)), "step": " layout "}
    assert (await operator.http.post(f"{address}/load", data=form)).status_code == 303
    page = (await operator.http.get(address)).text
    assert "jobs of layout go to it before all others" in page
    assert "<dd>jobs of layout</dd>" in page
    assert "jobs of export go to it" in await sluice("pilot", "load", pilot.name, "export")
    assert find_pilot_in_state(operator, PilotState.ACTIVE).to_load == "export"
    explanation = (
        "there is no step 'lay-out' in any template; steps are: build_events, decode, export"
    )
    output = await sluice("pilot", "load", pilot.name, "lay-out", code=1)
    assert explanation in " ".join(output.split())
    await operator.http.post(f"{address}/load", data={**form, "step": "lay-out"})
    assert "no step &#39;lay-out&#39; in any template" in (await operator.http.get(address)).text
    assert find_pilot_in_state(operator, PilotState.ACTIVE).to_load == "export", (
        "the refused request changed nothing"
    )
    assert "by their rank again" in await sluice("pilot", "load", pilot.name)
    assert find_pilot_in_state(operator, PilotState.ACTIVE).to_load is None
