"""The drawing of a chain over time.

Each pilot has a lane, as high as its running jobs, in the colours of the steps. Below, curves
show the waiting jobs of each step.
"""

from collections.abc import Sequence
from itertools import groupby

from sluice.contracts.common.numbers import seconds_text
from sluice.contracts.jobs.times import Timeline
from wfms.operator.web.domain.svg import (
    box,
    colour,
    curve,
    cut,
    line,
    picture,
    text,
    ticks,
    time_ticks,
)

WIDTH, _LEFT, _RIGHT, _TOP, _LANE, _GAP, _QUEUE = 1000, 150, 24, 40, 30, 8, 110
#: Steps that are named above the picture.
_MAX_NAMED_STEPS = 8


def draw_timeline(timeline: Timeline, *, title: str) -> str:
    """Return the timeline as an SVG document."""
    lanes = timeline.lanes
    queues_top = _TOP + 18 + max(len(lanes), 1) * (_LANE + _GAP) + 22
    height = queues_top + _QUEUE + 40
    scale = (WIDTH - _LEFT - _RIGHT) / timeline.bins
    period = f"{timeline.begin:%F %T} to {timeline.end:%T}"
    parts = [
        text(16, 22, cut(title, 90)),
        text(WIDTH - _RIGHT, 22, period, kind="muted", anchor="end"),
        *_draw_names(timeline.steps),
        *_draw_axis(timeline, queues_top + _QUEUE),
    ]
    max_height = max((_compute_highest(lane.busy) for lane in lanes), default=0.0) or 1.0
    for number, lane in enumerate(lanes):
        y = _TOP + 18 + number * (_LANE + _GAP)
        parts += [
            text(16, y + _LANE / 2 + 4, cut(lane.name, 19)),
            box(_LEFT, y, WIDTH - _LEFT - _RIGHT, _LANE, kind="lane"),
            *_draw_work(lane.busy, y, scale=scale, max_height=max_height),
        ]
    if not lanes:
        parts.append(text(16, _TOP + 36, "No pilot has had a job yet.", kind="muted"))
    parts += _draw_queues(timeline.queues, queues_top, scale=scale)
    return picture(WIDTH, height, parts, title=title)


def _compute_highest(rows: Sequence[Sequence[float]]) -> float:
    return max((sum(cells) for cells in zip(*rows, strict=True)), default=0.0)


def _draw_names(steps: Sequence[str]) -> list[str]:
    parts, x = [], float(_LEFT)
    for number, step in enumerate(steps[:_MAX_NAMED_STEPS]):
        name = cut(step, 18)
        parts += [box(x, 32, 12, 12, kind=f"c{colour(number)}"), text(x + 17, 42, name)]
        x += 34 + 7 * len(name)
    if len(steps) > _MAX_NAMED_STEPS:
        parts.append(text(x, 42, f"and {len(steps) - _MAX_NAMED_STEPS} more", kind="muted"))
    return parts


def _draw_work(
    busy: Sequence[Sequence[float]], y: float, *, scale: float, max_height: float
) -> list[str]:
    """Return the boxes of a lane; adjacent bins of the same height become one box."""
    parts: list[str] = []
    below = [0.0] * (len(busy[0]) if busy else 0)
    for number, row in enumerate(busy):
        above = [low + share for low, share in zip(below, row, strict=True)]
        cells = [(round(low, 2), round(high, 2)) for low, high in zip(below, above, strict=True)]
        place = 0
        for (low, high), same in groupby(cells):
            count = len(list(same))
            if high > low:
                top, bottom = (_LANE * (1 - value / max_height) for value in (high, low))
                width = count * scale
                kind = f"c{colour(number)}"
                parts.append(box(_LEFT + place * scale, y + top, width, bottom - top, kind=kind))
            place += count
        below = above
    return parts


def _draw_queues(queues: Sequence[Sequence[int]], top: float, *, scale: float) -> list[str]:
    max_height = max((max(row, default=0) for row in queues), default=0) or 1
    parts = [
        text(16, top + 12, "Jobs that wait"),
        line(_LEFT, top + _QUEUE, WIDTH - _RIGHT, top + _QUEUE),
    ]
    for tick in ticks(max_height, about=2)[1:]:
        y = top + _QUEUE * (1 - tick / max_height)
        jobs = f"{tick:,.0f}".replace(",", "\u202f")
        parts += [
            line(_LEFT, y, WIDTH - _RIGHT, y),
            text(_LEFT - 8, y + 4, jobs, kind="muted", anchor="end"),
        ]
    for number, row in enumerate(queues):
        points = [
            (_LEFT + (place + 0.5) * scale, top + _QUEUE * (1 - waiting / max_height))
            for place, waiting in enumerate(row)
        ]
        parts.append(curve(points, f"s{colour(number)}"))
    return parts


def _draw_axis(timeline: Timeline, bottom: float) -> list[str]:
    total_seconds = timeline.seconds * timeline.bins
    parts = []
    for tick in time_ticks(total_seconds, about=6):
        x = _LEFT + (WIDTH - _LEFT - _RIGHT) * tick / total_seconds
        parts += [
            line(x, _TOP + 14, x, bottom),
            text(x, bottom + 18, seconds_text(tick), kind="muted", anchor="middle"),
        ]
    return parts
