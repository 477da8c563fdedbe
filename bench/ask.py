"""Benchmark of human tasks: many annotators answer through the page's own requests.

It measures answers in a minute and the time until the next item comes.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import httpx

from bench.result import BenchResult, percentile
from bench.system import fresh_system
from sluice.clientkit.connection import connected
from sluice.clientkit.transfer.upload import upload_files
from sluice.clientkit.watch.chain import wait_for_chain
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.human_tasks.annotation import AnnotatorAnswer, AskNext, NextItems
from sluice.contracts.human_tasks.supervision import AskLink, NewLink
from sluice.contracts.templates.templates import NewTemplate
from sluice.network.credentials import headers_for
from sluice.network.http_clients import http_client

_WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
sluice:match: {kind: bench-ask}
requirements:
  ScatterFeatureRequirement: {}
inputs:
  files: File[]
outputs:
  answers: {type: "File[]", outputSource: ask/answer}
steps:
  ask:
    sluice:ask: {question: Is it one?, agree: 2, link: 1}
    scatter: file
    in: {file: files}
    out: [answer]
    run:
      class: Operation
      inputs: {file: File}
      outputs: {answer: File}
"""
#: All annotators come from one address and are faster than people.
_NO_LIMITS = {
    "SLUICE_ASK_REQUESTS_OF_A_BROWSER": "0",
    "SLUICE_ASK_BROWSERS_OF_AN_ADDRESS": "0",
}
#: The number of items that a browser requests when it has none.
_ITEMS_AHEAD = 3
_HEADERS = {"Sluice-Ask": "1"}
#: Seconds until the page asks again when others have the remaining items (``POLL_DELAYS`` of its
#: ``sender.js``). The second value is the time without a new answer after which a browser leaves.
_POLL_SECONDS, _TIMEOUT = 3.0, 5.0


@dataclass(frozen=True, slots=True)
class _BrowserRecord:
    """The items that a browser has shown, and the seconds of each of its requests."""

    items: list[UUID]
    waits: list[float]


def bench_ask(items: int = 2000, people: int = 200, think: float = 1.0) -> BenchResult:
    """Measure two answers to each of ``items`` by ``people`` at once.

    Each person needs ``think`` seconds for an item on average. The time varies by half, so that
    people do not answer at the same moments.

    Raises:
        RuntimeError: An item was shown to one browser twice.
    """
    with tempfile.TemporaryDirectory(prefix="sluice-bench-ask-") as folder:
        files = [Path(folder) / f"{number}.txt" for number in range(items)]
        for path in files:
            path.write_text(f"Sunday at {path.stem}:00, or not")
        with fresh_system(**_NO_LIMITS) as (url, _):
            address = asyncio.run(_prepare_page(url, files))
            # The browsers run in a separate process, as real ones do.
            with ProcessPoolExecutor(1) as pool:
                records, seconds = pool.submit(_run_browsers, url, address, people, think).result()
    waits = [wait for record in records for wait in record.waits]
    answers = sum(len(record.items) for record in records)
    twice = [
        item for record in records for item, number in Counter(record.items).items() if number > 1
    ]
    if twice:
        raise RuntimeError(f"shown twice to one browser: {twice}")
    return BenchResult(
        name="ask",
        value=60 * answers / seconds,
        unit="answers/min",
        target=">= 10 000 answers/min, next item p99 <= 100 ms",
        details={
            "items": items,
            "people": people,
            "seconds for an item": think,
            "answers": answers,
            "next item, median ms": round(1000 * percentile(waits, 0.5), 1),
            "next item, p99 ms": round(1000 * percentile(waits, 0.99), 1),
        },
    )


async def _prepare_page(url: str, files: list[Path]) -> str:
    """Return the address of the page when all items are open."""
    async with connected(url) as connection:
        await connection.operator.store_template(NewTemplate(name="bench-ask", cwl=_WORKFLOW))
        new = NewDataset(name="bench-ask", meta={"kind": "bench-ask"})
        dataset = await upload_files(connection, files, dataset=new)
        await wait_for_chain(connection, dataset.uid)
    async with http_client(f"{url}/services/ask", headers=headers_for(url)) as http:
        while True:
            steps = (await http.get("/api/v1/asking/steps")).raise_for_status().json()["steps"]
            if steps and steps[0]["items"].get("open") == len(files):
                break
            await asyncio.sleep(0.2)
        place = "/api/v1/asking/steps/everyone/bench-ask/ask/links"
        response = await http.post(place, json=NewLink(days=1).model_dump())
        link = AskLink.model_validate(response.raise_for_status().json())
    if link.url is None:
        raise RuntimeError("the link has no address")
    return link.url


def _run_browsers(
    url: str, address: str, people: int, think: float
) -> tuple[list[_BrowserRecord], float]:
    return asyncio.run(_answer_all(url, address, people, think))


async def _answer_all(
    url: str, address: str, people: int, think: float
) -> tuple[list[_BrowserRecord], float]:
    """Return the record of each browser, and the seconds from the start to the last answer."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    browsers = [
        http_client(
            url,
            headers={"User-Agent": f"person {number}"},  # each is another person
            follow_redirects=True,
            timeout=60,
            limits=limits,
        )
        for number in range(people)
    ]
    try:
        for browser in browsers:
            (await browser.get(address)).raise_for_status()
        path = address.partition("?")[0]
        start = time.monotonic()
        last = [start]
        pauses = [_generate_pauses(number, think) for number in range(people)]
        records = await asyncio.gather(
            *(
                _simulate_person(browser, path, last, pause)
                for browser, pause in zip(browsers, pauses, strict=True)
            )
        )
        return list(records), last[0] - start
    finally:
        for browser in browsers:
            await browser.aclose()


def _generate_pauses(number: int, think: float) -> Iterator[float]:
    """Yield the seconds until the person comes, then those for each item."""
    chooser = random.Random(number)  # noqa: S311 - no secret
    yield chooser.uniform(0, think)
    while True:
        yield chooser.uniform(0.5, 1.5) * think


async def _simulate_person(
    browser: httpx.AsyncClient, path: str, last: list[float], pauses: Iterator[float]
) -> _BrowserRecord:
    """Answer items, one with each request, which brings the next item.

    ``last`` is the time of the latest answer of anybody.
    """
    record = _BrowserRecord([], [])
    await asyncio.sleep(next(pauses))
    items = (
        await _request_next(browser, path, AskNext(requested_items=_ITEMS_AHEAD), record)
    ).items
    while True:
        if not items:
            if time.monotonic() - last[0] > _TIMEOUT:
                return record
            await asyncio.sleep(_POLL_SECONDS)
            items = (
                await _request_next(browser, path, AskNext(requested_items=_ITEMS_AHEAD), None)
            ).items
            continue
        await asyncio.sleep(next(pauses))
        item = items.pop(0)
        answer = AnnotatorAnswer(item=item.id, answer="yes", seconds=1)
        has = [one.id for one in items]
        reply = await _request_next(
            browser, path, AskNext(answers=[answer], has=has, requested_items=1), record
        )
        record.items.append(item.id)
        last[0] = time.monotonic()
        items += reply.items
        if reply.over and not items:
            return record


async def _request_next(
    browser: httpx.AsyncClient, path: str, request: AskNext, record: _BrowserRecord | None
) -> NextItems:
    started = time.monotonic()
    body = request.model_dump_json()
    headers = {**_HEADERS, "Content-Type": "application/json"}
    answer = await browser.post(f"{path}/next", content=body, headers=headers)
    if record is not None:
        record.waits.append(time.monotonic() - started)
    if answer.is_error:
        sys.stderr.write(f"{answer.status_code}: {answer.text}\n")
    return NextItems.model_validate_json(answer.raise_for_status().content)
