"""People who answer, made up: careful ones, careless ones, and some who do not look. Each has a
browser of its own, and goes the way of the real page, by HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

import httpx

from sluice.http_clients import http_client
from sluice.visible_text import quoted

#: What is shown, and where the mark stands in it.
Shown = tuple[str, int, int]
#: Is what is marked a mass?
Knowledge = Mapping[Shown, bool]

#: Items that a browser has at a time, and seconds between two looks where there is none.
_AT_ONCE, _LOOK = 5, 0.5
#: Times that a request is sent to a service that has no time.
_TRIES = 60
#: Seconds that one item takes, as the browser says; nobody waits so long here.
_LOOKED = (0.8, 6.0)


class Manner(StrEnum):
    CAREFUL = "careful"
    CARELESS = "careless"
    ALWAYS_YES = "always yes"
    BY_CHANCE = "by chance"

    @property
    def cheats(self) -> bool:
        return self in {Manner.ALWAYS_YES, Manner.BY_CHANCE}


#: How often who looks is wrong.
ERRORS = {Manner.CAREFUL: 0.04, Manner.CARELESS: 0.15}


def said(manner: Manner, right: bool, random: Random) -> bool:
    if manner is Manner.ALWAYS_YES:
        return True
    if manner is Manner.BY_CHANCE:
        return random.random() < 0.5
    return right != (random.random() < ERRORS[manner])


@dataclass
class Annotator:
    """``name``: what the browser says that it is. ``pause``: seconds between two requests."""

    name: str
    manner: Manner
    knowledge: Knowledge
    random: Random
    pause: float = 0.2
    given: int = 0

    async def answer(self, link: str, stop: asyncio.Event) -> None:
        """Opens the link, and answers what is shown until told to stop. Raises
        ``httpx.HTTPError``; ``LookupError`` for an item that it knows nothing of.
        """
        agent = {"User-Agent": self.name}
        async with http_client(link, follow_redirects=True, headers=agent, timeout=60) as browser:
            page = str((await browser.get(link)).raise_for_status().url)
            (await browser.get(f"{page}/about")).raise_for_status()
            answers: list[dict[str, Any]] = []
            while True:
                asked = {"answers": answers, "has": [], "wanted": 0 if stop.is_set() else _AT_ONCE}
                came = await self._next(browser, page, asked)
                self.given = came["given"]
                answers = [self._answered(item) for item in came["items"]]
                if stop.is_set() and not answers:
                    return
                await _pause(stop, self.pause if answers else _LOOK)

    async def _next(
        self, browser: httpx.AsyncClient, page: str, asked: dict[str, Any]
    ) -> dict[str, Any]:
        """What does not get through is sent again, as the page does: it counts once."""
        for _ in range(_TRIES):
            answer = await browser.post(f"{page}/next", json=asked, headers={"Sluice-Ask": "1"})
            if answer.status_code < 500:
                break
            await asyncio.sleep(_LOOK)
        came: dict[str, Any] = answer.raise_for_status().json()
        return came

    def _answered(self, item: Mapping[str, Any]) -> dict[str, Any]:
        begin, end = item["mark"]
        shown = (item["text"], begin, end)
        if shown not in self.knowledge:
            raise LookupError(
                f"nobody knows of {quoted(item['text'][begin:end])} in {quoted(item['text'])}"
            )
        yes = said(self.manner, self.knowledge[shown], self.random)
        return {
            "item": item["id"],
            "answer": "yes" if yes else "no",
            "seconds": round(self.random.uniform(*_LOOKED), 1),
        }


def people(manners: Mapping[Manner, int], knowledge: Knowledge, seed: int) -> list[Annotator]:
    """So many of each manner."""
    return [
        Annotator(
            f"{manner} {number + 1}",
            manner,
            knowledge,
            Random(f"{seed} {manner} {number}"),  # noqa: S311 - no secret
        )
        for manner, many in manners.items()
        for number in range(many)
    ]


async def answer_all(annotators: Sequence[Annotator], link: str, stop: asyncio.Event) -> None:
    """All at once, until told to stop. Raises what goes wrong with one."""
    tasks = [asyncio.create_task(annotator.answer(link, stop)) for annotator in annotators]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    """Not for longer than it is wanted."""
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
