"""The drawing of waiting and working times of steps.

Each step has two bars with the means, and whiskers that end at the 90th percentile.
"""

from sluice.contracts.common.numbers import seconds_text
from sluice.contracts.jobs.times import Spread, StepTimes, WorkTimes
from wfms.operator.web.domain.svg import (
    box,
    colour,
    cut,
    line,
    picture,
    text,
    time_ticks,
)

WIDTH, _LEFT, _RIGHT, _TOP, _ROW, _BAR = 900, 190, 80, 44, 46, 13
WAITING, WORKING = 1, 0


def draw_times(times: WorkTimes, *, title: str) -> str:
    """Return the times as an SVG document."""
    steps = [step for step in times.steps if step.working is not None]
    height = _TOP + _ROW * max(len(steps), 1) + 40
    bottom = height - 34
    longest_time = max(
        (_compute_reach(spread) for step in steps for spread in _list_spreads(step)), default=0.0
    )
    scale = (WIDTH - _LEFT - _RIGHT) / (longest_time or 1.0)
    parts = [
        text(16, 26, title),
        box(_LEFT, 16, 12, 12, kind=f"c{colour(WAITING)}"),
        text(_LEFT + 18, 26, "waiting"),
        box(_LEFT + 84, 16, 12, 12, kind=f"c{colour(WORKING)}"),
        text(_LEFT + 102, 26, "working"),
        text(WIDTH - 16, 26, "mean and p90", kind="muted", anchor="end"),
    ]
    for tick in time_ticks(longest_time):
        x = _LEFT + tick * scale
        parts += [
            line(x, _TOP - 4, x, bottom),
            text(x, bottom + 18, seconds_text(tick), kind="muted", anchor="middle"),
        ]
    if not steps:
        parts.append(text(16, _TOP + 24, "No job has finished yet.", kind="muted"))
    for number, step in enumerate(steps):
        parts += _draw_step(step, _TOP + number * _ROW, scale)
    return picture(WIDTH, height, parts, title=title)


def _list_spreads(step: StepTimes) -> list[Spread]:
    return [spread for spread in (step.waiting, step.working) if spread is not None]


def _compute_reach(spread: Spread) -> float:
    return max(spread.mean, spread.p90)


def _draw_step(step: StepTimes, y: float, scale: float) -> list[str]:
    parts = [
        text(16, y + 18, cut(step.step, 24)),
        text(16, y + 34, f"{step.finished:,} finished".replace(",", "\u202f"), kind="muted"),
    ]
    for row, (spread, kind) in enumerate(((step.waiting, WAITING), (step.working, WORKING))):
        if spread is None:
            continue
        top = y + 5 + row * (_BAR + 4)
        middle, end = top + _BAR / 2, _LEFT + spread.p90 * scale
        parts += [
            box(_LEFT, top, max(spread.mean * scale, 1), _BAR, kind=f"c{colour(kind)}"),
            line(_LEFT + spread.mean * scale, middle, end, middle, kind="whisker"),
            line(end, middle - 4, end, middle + 4, kind="whisker"),
            text(_LEFT + _compute_reach(spread) * scale + 8, middle + 4, seconds_text(spread.mean)),
        ]
    return parts
