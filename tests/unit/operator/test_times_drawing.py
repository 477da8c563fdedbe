"""Diagrams of times: valid SVG, to scale, with any names."""

from collections.abc import Iterator
from datetime import timedelta
from xml.etree import ElementTree

import pytest

from sluice.contracts.common.numbers import seconds_text
from sluice.contracts.jobs.times import Lane, Timeline, WorkTimes
from tests.unit.operator.step_times import BEGIN, make_step_times
from wfms.operator.web.domain.svg import time_ticks
from wfms.operator.web.domain.timeline_drawing import draw_timeline
from wfms.operator.web.domain.times_drawing import draw_times

NS = "{http://www.w3.org/2000/svg}"


def find_elements(picture: str, name: str) -> Iterator[ElementTree.Element]:
    return ElementTree.fromstring(picture).iter(f"{NS}{name}")  # noqa: S314 - our own


def list_box_widths(picture: str, kind: str) -> list[float]:
    """Return the widths of the boxes of a class."""
    rectangles = find_elements(picture, "rect")
    return [float(box.attrib["width"]) for box in rectangles if box.get("class") == kind]


def list_texts(picture: str) -> list[str]:
    return ["".join(text.itertext()) for text in find_elements(picture, "text")]


def test_bars_are_as_long_as_the_times() -> None:
    picture = draw_times(
        WorkTimes(steps=[make_step_times("a <b> & 'c'", 4.0, 2.0), make_step_times("d", 8.0, 1.0)]),
        title="x & y",
    )
    [_, first, second] = list_box_widths(picture, "c1")
    assert second == pytest.approx(2 * first, abs=0.2)
    assert list_box_widths(picture, "c0")[1] == pytest.approx(first / 2, abs=0.2)
    assert {"a <b> & 'c'", "x & y", "4 s", "8 s", "9 finished"} <= set(list_texts(picture))


def test_empty_diagram_shows_a_sentence() -> None:
    assert "No job has finished yet." in list_texts(draw_times(WorkTimes(steps=[]), title=""))
    empty = Timeline(begin=BEGIN, end=BEGIN + timedelta(seconds=1), bins=4, steps=[])
    assert "No pilot has had a job yet." in list_texts(draw_timeline(empty, title=""))


def test_lane_height_shows_running_jobs_and_equal_bins_are_one_box() -> None:
    busy = [[2.0] * 100 + [0.0] * 100, [0.0] * 100 + [1.0] * 50 + [0.0] * 50]
    timeline = Timeline(
        begin=BEGIN,
        end=BEGIN + timedelta(minutes=4),
        bins=200,
        steps=["layout", "export"],
        lanes=[Lane(name="farm-1", busy=busy)],
        queues=[[5] * 200, [0] * 200],
    )
    picture = draw_timeline(timeline, title="volume")
    assert list_box_widths(picture, "c0")[1] == pytest.approx(826 / 2, abs=1)
    assert list_box_widths(picture, "c1")[1] == pytest.approx(826 / 4, abs=1)
    heights = [float(box.attrib["height"]) for box in find_elements(picture, "rect")]
    assert {30.0, 15.0} <= set(heights), "the lane must show two jobs, then one"
    assert {"farm-1", "layout", "export", "2 min"} <= set(list_texts(picture))
    assert len(list(find_elements(picture, "polyline"))) == 2


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (0, [0]),
        (9.6, [0, 2, 4, 6, 8]),
        (1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (70, [0, 15, 30, 45, 60]),
    ],
)
def test_ticks_are_round_numbers_up_to_the_longest_time(most: float, ticks: list[float]) -> None:
    assert time_ticks(most) == pytest.approx(ticks)


def test_seconds_are_described_in_suitable_units() -> None:
    descriptions = [seconds_text(seconds) for seconds in (0, 0.25, 4.25, 90, 180, 9000)]
    assert descriptions == ["0 s", "250 ms", "4.25 s", "1.5 min", "3 min", "2.5 h"]
