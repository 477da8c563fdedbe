"""Simulated annotators: careful ones, careless ones, and cheats.

Each annotator has its own browser and uses the real page by HTTP.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

import httpx

from sluice.network.http_clients import http_client
from sluice.text.visible_text import quoted

#: The text of an item, and the start and end of the mark in it.
MarkedText = tuple[str, int, int]
#: Whether the mark of an item is a mass.
KnownAnswers = Mapping[MarkedText, bool]

#: Items that a browser has at a time, and seconds between two requests if there are none.
_MAX_ITEMS, _POLL_SECONDS = 5, 0.5
#: How often a request is sent to a service that is not available.
_TRIES = 60
#: The shortest and longest time in seconds that the browser reports for an item, without waiting.
_ANSWER_SECONDS = (0.8, 6.0)


class Manner(StrEnum):
    """How an annotator answers."""

    CAREFUL = "careful"
    CARELESS = "careless"
    ALWAYS_YES = "always yes"
    BY_CHANCE = "by chance"

    @property
    def cheats(self) -> bool:
        """Return whether the annotator answers without looking."""
        return self in {Manner.ALWAYS_YES, Manner.BY_CHANCE}


#: The error rates of annotators who look.
ERRORS = {Manner.CAREFUL: 0.04, Manner.CARELESS: 0.15}


def choose_answer(manner: Manner, true_answer: bool, random: Random) -> bool:
    """Return the answer of an annotator to an item with that right answer."""
    if manner is Manner.ALWAYS_YES:
        return True
    if manner is Manner.BY_CHANCE:
        return random.random() < 0.5
    return true_answer != (random.random() < ERRORS[manner])


@dataclass
class Annotator:
    """A simulated annotator.

    ``name`` is the browser's user agent. ``pause`` is the time between two requests in seconds.
    """

    name: str
    manner: Manner
    knowledge: KnownAnswers
    random: Random
    pause: float = 0.2
    answer_count: int = 0

    async def answer(self, link: str, stop: asyncio.Event) -> None:
        """Open the link, and answer the items until told to stop.

        Raises:
            httpx.HTTPError: A request fails.
            LookupError: An item is not in ``knowledge``.
        """
        agent = {"User-Agent": self.name}
        async with http_client(link, follow_redirects=True, headers=agent, timeout=60) as browser:
            page = str((await browser.get(link)).raise_for_status().url)
            (await browser.get(f"{page}/about")).raise_for_status()
            answers: list[dict[str, Any]] = []
            while True:
                request = {
                    "answers": answers,
                    "has": [],
                    "requested_items": 0 if stop.is_set() else _MAX_ITEMS,
                }
                reply = await self._exchange(browser, page, request)
                self.answer_count = reply["answer_count"]
                answers = [self._make_answer(item) for item in reply["items"]]
                if stop.is_set() and not answers:
                    return
                await _pause(stop, self.pause if answers else _POLL_SECONDS)

    async def _exchange(
        self, browser: httpx.AsyncClient, page: str, request: dict[str, Any]
    ) -> dict[str, Any]:
        """Send answers and get items, and repeat the request after errors of the server.

        The real page does the same. A repeated answer counts once.
        """
        for _ in range(_TRIES):
            response = await browser.post(f"{page}/next", json=request, headers={"Sluice-Ask": "1"})
            if response.status_code < 500:
                break
            await asyncio.sleep(_POLL_SECONDS)
        reply: dict[str, Any] = response.raise_for_status().json()
        return reply

    def _make_answer(self, item: Mapping[str, Any]) -> dict[str, Any]:
        begin, end = item["mark"]
        marked_text = (item["text"], begin, end)
        if marked_text not in self.knowledge:
            raise LookupError(
                f"no answer is known for {quoted(item['text'][begin:end])}"
                f" in {quoted(item['text'])}"
            )
        is_yes = choose_answer(self.manner, self.knowledge[marked_text], self.random)
        return {
            "item": item["id"],
            "answer": "yes" if is_yes else "no",
            "seconds": round(self.random.uniform(*_ANSWER_SECONDS), 1),
        }


def make_annotators(
    manners: Mapping[Manner, int], knowledge: KnownAnswers, seed: int
) -> list[Annotator]:
    """Return as many annotators of each manner as ``manners`` says."""
    return [
        Annotator(
            f"{manner} {index + 1}",
            manner,
            knowledge,
            Random(f"{seed} {manner} {index}"),  # noqa: S311 - no secret
        )
        for manner, count in manners.items()
        for index in range(count)
    ]


async def answer_all(annotators: Sequence[Annotator], link: str, stop: asyncio.Event) -> None:
    """Let all annotators answer at the same time, until told to stop.

    The error of one annotator ends all.
    """
    tasks = [asyncio.create_task(annotator.answer(link, stop)) for annotator in annotators]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    """Sleep, but not after ``stop`` is set."""
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
