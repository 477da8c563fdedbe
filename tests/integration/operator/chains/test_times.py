"""Times of steps and chains: page, pictures, REST, command."""

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from uuid import uuid4

import pytest

from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import ChainState
from sluice.contracts.jobs.times import Lane, Timeline, WorkTimes
from tests.integration.operator.conftest import Operator
from tests.integration.operator.scene import Scene
from tests.integration.operator.sluice_command import Command
from tests.unit.operator.step_times import BEGIN, make_step_times, spread

TIMES = WorkTimes(
    steps=[make_step_times("layout", 12.0, 3.0), make_step_times("export", 1.0, 0.5)],
    waiting=13.0,
    working=3.5,
    passage=spread(20.0, 31.0),
    chains=spread(33.0, 33.0),
    uncounted=1,
)
TIMELINE = Timeline(
    begin=BEGIN,
    end=BEGIN + timedelta(minutes=1),
    bins=2,
    steps=["layout"],
    lanes=[Lane(name="farm-1", busy=[[1.0, 0.5]])],
    queues=[[3, 0]],
)


@pytest.fixture
def running(operator: Operator, scene: Scene) -> Chain:
    operator.neighbours.times, operator.neighbours.timeline = TIMES, TIMELINE
    chains = operator.neighbours.chains.values()
    return next(chain for chain in chains if chain.state is ChainState.IN_PROGRESS)


async def test_chain_page_links_to_the_times_of_the_chain(
    operator: Operator, running: Chain
) -> None:
    address = f"/chains/{running.uid}/times"
    assert address in (await operator.http.get(f"/chains/{running.uid}")).text
    page = (await operator.http.get(address)).text
    for shown in ("layout", "12 s", "31 s", "1 task"):
        assert shown in page
    pictures = re.findall(r'<img src="([^"]+)"', page)
    assert [picture.partition("?")[0] for picture in pictures] == [
        "/api/v1/times.svg", f"/api/v1/chains/{running.uid}/timeline.svg"
    ]  # fmt: skip
    for picture in map(unescape, pictures):
        answer = await operator.http.get(picture)
        assert answer.headers["content-type"] == "image/svg+xml"
        assert "style-src 'unsafe-inline'; sandbox" in answer.headers["content-security-policy"]
        assert "layout" in answer.text
    again = (await operator.http.get(f"{address}/live")).json()
    assert (list(again["parts"]), again["again"]) == (["times"], True)


async def test_times_page_of_a_template_covers_recent_days(
    operator: Operator, running: Chain
) -> None:
    page = (await operator.http.get("/times", params={"template": "spd", "days": "7"})).text
    assert "Times of spd" in page
    query = operator.neighbours.times_asked[-1]
    assert query["template"] == "spd"
    assert isinstance(query["since"], datetime)
    assert timedelta(days=6) < datetime.now(UTC) - query["since"] < timedelta(days=8)
    operator.neighbours.times = WorkTimes(steps=[])
    assert "Nothing started in this period" in (await operator.http.get("/times?days=x")).text


async def test_chain_without_a_task_has_no_times(operator: Operator, running: Chain) -> None:
    operator.neighbours.times, operator.neighbours.timeline = WorkTimes(steps=[]), None
    page = (await operator.http.get(f"/chains/{running.uid}/times")).text
    assert "No task yet" in page
    assert "0.0 s" not in page
    with pytest.raises(NotFound):
        await operator.client.get_timeline(running.uid)
    assert (await operator.http.get("/api/v1/times?chain_uid=x")).status_code == 422
    many = ",".join(str(uuid4()) for _ in range(101))
    assert (await operator.http.get(f"/api/v1/times?chain_uid={many}")).status_code == 422


async def test_stats_command_shows_times_and_writes_pictures(
    operator: Operator, running: Chain, sluice: Command, tmp_path: Path
) -> None:
    chain = running.dataset_name
    bars, line = tmp_path / "bars.svg", tmp_path / "line.svg"
    output = await sluice("stats", chain, "--svg", str(bars), "--timeline", str(line))
    assert (
        "in all: waiting 13 s, working 3.5 s; turnaround of an entry 20 s, at most 31 s" in output
    )
    assert "the jobs of 1 task are still to be counted" in output
    assert "export" in bars.read_text()
    assert "farm-1" in line.read_text()
    assert operator.neighbours.times_asked[-1]["chain"] == [running.uid]
    answer = json.loads(
        (await sluice("stats", "--template", "spd", "--since", "12h", "--json")).partition("\n}")[0]
        + "\n}"
    )
    assert WorkTimes.model_validate(answer) == TIMES
    assert operator.neighbours.times_asked[-1]["template"] == "spd"
    for count, sentence in (
        (1, "the chain: 8.42 s from the first task to the last's end"),
        (9, "9 chains: on average 8.42 s from a chain's first task to its last's end"),
    ):
        chains = spread(8.42, 9.0).model_copy(update={"count": count})
        operator.neighbours.times = TIMES.model_copy(update={"chains": chains})
        assert sentence in await sluice("stats")
    for options, why in (
        (("--since", "soon"), "neither a span"),
        ((chain, "--template", "spd"), "name chains, or a template"),
        (("--timeline", str(line)), "--timeline needs exactly one chain"),
    ):
        assert why in await sluice("stats", *options, code=2)
    assert "No such file" in await sluice("stats", "--svg", str(tmp_path / "a/b.svg"), code=1)
