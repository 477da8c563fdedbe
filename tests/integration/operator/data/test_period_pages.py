"""Pages of data-taking periods, their runs and frames."""

import re
from datetime import UTC, datetime

from sluice.contracts.data.runs import Frame, Period, Run
from tests.integration.operator.conftest import Operator

SPRING, AUTUMN = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)


def read_words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.partition("<h1")[2]).split())


async def test_periods_are_listed_latest_first_with_their_runs(operator: Operator) -> None:
    operator.neighbours.periods = [
        Period(name="2026 spring", goal="first <beams>", started_at=SPRING, ended_at=AUTUMN),
        Period(name="2026 autumn", started_at=AUTUMN),
    ]
    operator.neighbours.runs = [
        Run(number=7, period="2026 spring", conditions={"energy": 27}, frames=1200)
    ]
    page = (await operator.http.get("/periods")).text
    assert "first &lt;beams&gt;" in page
    shown = read_words(page)
    assert shown.index("2026 autumn") < shown.index("2026 spring")
    assert "7 energy=27 – – 1 200" in shown
    assert "ended 2026-09-01 00:00:00 UTC" in shown
    assert "No run yet" in shown


async def test_system_without_periods_says_how_to_register_one(operator: Operator) -> None:
    assert "sluice period add NAME" in (await operator.http.get("/periods")).text


async def test_frames_of_a_run_are_shown_in_pages(operator: Operator) -> None:
    operator.neighbours.runs = [Run(number=7, period="2026", frames=250)]
    operator.neighbours.frames = [
        Frame(run=7, number=number, meta={"events": number}) for number in range(250)
    ]
    first = (await operator.http.get("/runs/7")).text
    assert first.count('<th scope="row">') == 200
    assert "/runs/7?after=199" in first
    last = (await operator.http.get("/runs/7?after=199")).text
    assert last.count('<th scope="row">') == 50
    assert "events=249" in read_words(last)
    assert "More frames" not in last


async def test_page_of_an_unknown_run_is_not_found(operator: Operator) -> None:
    answer = await operator.http.get("/runs/8")
    assert answer.status_code == 404
    assert "run 8 is not registered" in answer.text
