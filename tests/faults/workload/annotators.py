"""Annotators who answer while faults happen.

Like the page, each browser sends an answer until the service confirms it.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from uuid import UUID, uuid4

import httpx

from sluice.clientkit.connection import client
from sluice.clients.operator import HumanStepKey, OperatorClient
from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.human_tasks.annotation import (
    AnnotatorAnswer,
    AnswerState,
    AskNext,
    NextItems,
)
from sluice.contracts.human_tasks.supervision import NewLink
from tests.faults.checker.expectation import ExpectedAnnotations
from tests.faults.retries import TRANSIENT_STATUSES, Ask, SystemViolation, retry, wait_for
from tests.faults.workload.work import LOOK, Arrival, list_expected_annotations

#: Shorter than the defaults, with which a run would wait for minutes.
QUICK_ANSWERS = {
    "SLUICE_ASK_PERIOD": "0.5",
    "SLUICE_ASK_UNDO": "0",
    "SLUICE_ASK_SETTLE": "2",
    "SLUICE_ASK_ASSIGNMENT_SECONDS": "15",
}
#: Number of equal annotations that decide an item.
_AGREEMENT = 2
#: Days of the links, longer than each jump of a clock.
_DAYS = 7
#: Seconds for an answer of the service.
_REQUEST_TIMEOUT = 10.0
#: Seconds until there is an item.
_ITEM_TIMEOUT = 300.0
#: Seconds that an annotator looks at the items.
_ANSWER_SECONDS = 0.5
#: Number of items that a browser has at a time.
_ITEMS_PER_BROWSER = 3
_HEADERS = {"Sluice-Ask": "1"}
#: The page retries these, also when it has retried too often.
_RETRIED_STATUSES = TRANSIENT_STATUSES | {httpx.codes.TOO_MANY_REQUESTS}


class Browser:
    """The browser of an annotator; ``answers`` has the items with confirmed answers."""

    def __init__(
        self, http: httpx.AsyncClient, page: str, questions: Mapping[str, ExpectedAnnotations]
    ) -> None:
        """Create a browser. ``page`` has the link's key; ``questions`` is indexed by file names."""
        self._http = http
        self._page = page
        self._questions = questions
        self.answers = set[UUID]()
        self._unconfirmed = dict[UUID, tuple[str, AnnotatorAnswer]]()

    async def enter(self) -> None:
        """Open the link; raise ``SystemViolation`` on failure."""
        await self._retry_request(lambda: self._http.get(self._page), "a browser opens its link")

    async def answer_all(self, has_to_leave: asyncio.Event) -> None:
        """Answer items until ``has_to_leave`` is set and all answers are confirmed.

        Raises ``SystemViolation``.
        """
        while not has_to_leave.is_set() or self._unconfirmed:
            page_items = await self._exchange_items(
                0 if has_to_leave.is_set() else _ITEMS_PER_BROWSER
            )
            for item in page_items.items:
                if item.id in self.answers:
                    raise SystemViolation(
                        f"{item.title} was shown again to the browser that answered it"
                    )
                word = self._questions[item.title].words[item.title]
                answer = AnnotatorAnswer(item=item.id, answer=word, seconds=_ANSWER_SECONDS)
                self._unconfirmed[item.id] = (item.title, answer)
            # A person needs this time for an answer.
            await asyncio.sleep(_ANSWER_SECONDS)

    async def take_items_and_leave(self) -> None:
        """Take items and answer none of them; raise ``SystemViolation`` if there are none."""

        async def is_shown() -> bool:
            return bool((await self._exchange_items(_ITEMS_PER_BROWSER)).items)

        await wait_for(is_shown, _ITEM_TIMEOUT)

    async def _exchange_items(self, count: int) -> NextItems:
        request = AskNext(
            answers=[annotation for _, annotation in self._unconfirmed.values()],
            requested_items=count,
        )
        content = request.model_dump_json()
        headers = {**_HEADERS, "Content-Type": "application/json"}
        path = f"{self._page.partition('?')[0]}/next"
        answer = await self._retry_request(
            lambda: self._http.post(path, content=content, headers=headers), "a browser answers"
        )
        page_items = NextItems.model_validate_json(answer.content)
        for result in page_items.results:
            self._record_result(result.item, result.state)
        return page_items

    def _record_result(self, item: UUID, state: AnswerState) -> None:
        name, _ = self._unconfirmed.pop(item)
        if state is AnswerState.UNKNOWN:
            raise SystemViolation(f"the service does not know that it has shown {name}")
        if state is not AnswerState.LATE:
            self.answers.add(item)
            self._questions[name].answer_counts[name] += 1

    async def _retry_request(self, send: Ask, what: str) -> httpx.Response:
        """Repeat a request until the service answers."""
        last: httpx.Response | None = None

        async def is_answered() -> bool:
            nonlocal last
            with suppress(httpx.TransportError):
                last = await send()
            return last is not None and last.status_code not in _RETRIED_STATUSES

        if not await wait_for(is_answered) or last is None:
            raise SystemViolation(f"{what}: no answer")
        if not last.is_success:
            raise SystemViolation(f"{what}: {last.status_code} {last.text[:200]}")
        return last


class AnnotatorGroup:
    """Annotators on the pages below ``url``; ``violations`` lists violations by the system."""

    def __init__(self, url: str, watcher: OperatorClient, arrivals: Sequence[Arrival]) -> None:
        self._url = url
        self._watcher = watcher
        self._questions = list_expected_annotations(arrivals)
        self._leaving = asyncio.Event()
        self.violations: list[str] = []

    async def answer(self, people: int) -> None:
        """Let annotators answer until ``leave`` is called; one more takes items and leaves."""
        try:
            await wait_for(self._has_items_or_ended, _ITEM_TIMEOUT)
            async with asyncio.TaskGroup() as group:
                for number in range(people + 1):
                    group.create_task(self._open_page(leaves_at_once=number == 0))
        except* SystemViolation as errors:
            self.violations += map(str, errors.exceptions)

    async def leave_when_answered(self) -> None:
        """Leave when every item has enough annotations, or raise ``SystemViolation``."""

        async def has_enough_annotations() -> bool:
            return all(
                one.answer_counts[name] >= _AGREEMENT for name, one in self._questions.items()
            )

        if not await wait_for(has_enough_annotations, _ITEM_TIMEOUT):
            raise SystemViolation("not all items got enough annotations")
        self.leave()

    def leave(self) -> None:
        self._leaving.set()

    async def _open_page(self, *, leaves_at_once: bool) -> None:
        place = HumanStepKey(EVERYONE, LOOK.template, LOOK.steps[0].name)
        link = await retry(lambda: self._watcher.create_ask_link(*place, NewLink(days=_DAYS)))
        page = httpx.URL(str(link.url)).raw_path.decode()
        async with httpx.AsyncClient(
            base_url=self._url,
            headers={
                "User-Agent": f"browser {uuid4()}"
            },  # Each user agent counts as another person.
            follow_redirects=True,
            timeout=_REQUEST_TIMEOUT,
        ) as http:
            browser = Browser(http, page, self._questions)
            await browser.enter()
            await (
                browser.take_items_and_leave()
                if leaves_at_once
                else browser.answer_all(self._leaving)
            )

    async def _has_items_or_ended(self) -> bool:
        """Return whether there are items, or the work is over."""
        steps = (await retry(self._watcher.list_human_steps)).steps
        return self._leaving.is_set() or any(step.items for step in steps)


@asynccontextmanager
async def open_annotator_group(
    url: str, operator: str, arrivals: Sequence[Arrival]
) -> AsyncIterator[AnnotatorGroup]:
    """Yield annotators on the pages below ``url``; ``operator`` is the service that makes links."""
    async with client(operator, seconds=_REQUEST_TIMEOUT) as http:
        yield AnnotatorGroup(url, OperatorClient(http), arrivals)
