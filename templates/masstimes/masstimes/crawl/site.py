"""The crawl of one site: its requests, its answers and its results."""

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from masstimes.binary import is_binary
from masstimes.crawl.addresses import normalise_address, without_sessions
from masstimes.crawl.decoding import decode_page
from masstimes.crawl.journal import Entry, Journal
from masstimes.crawl.known_pages import KnownPage, write_known_pages
from masstimes.crawl.limits import Ending, Limits
from masstimes.crawl.links import find_links
from masstimes.crawl.parishes import ParishSite
from masstimes.crawl.visits import Answer, Outcome, Visit, Visits

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The result of a request.

    ``headers`` have lower-case names. ``reason`` tells why there is no answer, such as ``timeout``,
    or ``robots`` for a forbidden request. With ``is_binary``, the body is not complete.
    """

    status: int = 0
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    is_binary: bool = False


#: A function that fetches a visit with additional headers.
Fetch = Callable[[Visit, Mapping[str, str]], Awaitable[FetchResult]]


class SiteCrawl:
    """The crawl of a site, which resumes after the answers in its journal."""

    def __init__(
        self,
        parish: ParishSite,
        *,
        limits: Limits,
        known_pages: Mapping[str, KnownPage],
        journal: Journal,
    ) -> None:
        self.parish = parish
        self._limits, self._known_pages, self._journal = limits, known_pages, journal
        self._visits = Visits(parish.start, parish.owns, limits)
        self._start = time.monotonic()
        for entry in journal.entries():
            self._visits.apply_answer(entry.answer)

    async def run(self, fetch: Fetch) -> None:
        """Crawl the site to the end, whatever it answers."""
        if not self.parish.domain:
            self._end(Ending.NO_ADDRESS)
            return
        while (ending := self._ending()) is None:
            visit = self._visits.next()
            assert visit is not None
            known_page = self._known_pages.get(visit.url)
            fetched = await fetch(visit, known_page.conditions if known_page else {})
            try:
                entry = self._make_entry(visit, fetched, known_page)
            except Exception:  # a page may cause any error
                entry = Entry(visit.url, Answer(Outcome.ERROR, "unreadable"))
            self._journal.add(entry)
            self._visits.apply_answer(entry.answer)
        self._end(ending)

    def _ending(self) -> Ending | None:
        if (ending := self._visits.ending()) is not None:
            return ending
        used = time.monotonic() - self._start
        return Ending.SECONDS if used >= self._limits.seconds else None

    def _make_entry(
        self, visit: Visit, fetch_result: FetchResult, known_page: KnownPage | None
    ) -> Entry:
        size = len(fetch_result.body)
        if fetch_result.reason or not (200 <= fetch_result.status < 400):
            return Entry(visit.url, _failed_answer(fetch_result))
        if fetch_result.status == _NOT_MODIFIED and known_page is not None:
            answer = _unchanged_answer(
                known_page, etag=known_page.etag, last_modified=known_page.modified, size=size
            )
            return Entry(visit.url, answer)
        if fetch_result.status >= 300:
            return Entry(visit.url, _redirect_answer(visit, fetch_result))
        if fetch_result.is_binary or is_binary(fetch_result.body):
            return Entry(visit.url, Answer(Outcome.BINARY, bytes=size))
        return self._make_page_entry(visit, fetch_result, known_page)

    def _make_page_entry(
        self, visit: Visit, fetch_result: FetchResult, known_page: KnownPage | None
    ) -> Entry:
        html = decode_page(fetch_result.body, fetch_result.headers.get("content-type", ""))
        sha256 = hashlib.sha256(without_sessions(html).encode(errors="replace")).hexdigest()
        etag, modified = (fetch_result.headers.get(name, "") for name in ("etag", "last-modified"))
        size = len(fetch_result.body)
        if known_page is not None and known_page.sha256 == sha256:
            return Entry(
                visit.url,
                _unchanged_answer(known_page, etag=etag, last_modified=modified, size=size),
            )
        answer = Answer(
            Outcome.PAGE,
            bytes=size,
            links=self._links(html, visit.url),
            etag=etag,
            modified=modified,
            sha256=sha256,
        )
        return Entry(visit.url, answer, self._output_line(visit, html))

    def _links(self, html: str, url: str) -> tuple[tuple[str, str], ...]:
        """Return the links that stay on the site."""
        return tuple(
            (target, text) for target, text in find_links(html, url) if self.parish.owns(target)
        )

    def _output_line(self, visit: Visit, html: str) -> bytes:
        """Return the line of the output, with the fields ``masstimes.pages.CRAWLED``."""
        page = {
            "url": visit.url,
            "previous_url": visit.previous_url,
            "start_url": self.parish.start,
            "domain": self.parish.domain,
            "html": html,
            "link_text": visit.link_text,
        }
        return json.dumps(page, ensure_ascii=False).encode(errors="replace")

    def _end(self, ending: Ending) -> None:
        tally = self._visits.tally
        self._journal.end(
            {
                "id": self.parish.id,
                "site": self.parish.site,
                "domain": self.parish.domain,
                "ended": ending,
                "requests": tally.requests,
                "bytes": tally.bytes,
                **{
                    f"{name}": tally.outcomes[outcome]
                    for name, outcome in _SUMMARY_OUTCOMES.items()
                },
                "errors": dict(sorted(tally.errors.items())),
                "seconds": round(time.monotonic() - self._start, 3),
            }
        )


_SUMMARY_OUTCOMES = {
    "pages": Outcome.PAGE,
    "unchanged": Outcome.UNCHANGED,
    "binary": Outcome.BINARY,
    "redirects": Outcome.REDIRECT,
    "robots": Outcome.ROBOTS,
}


def _failed_answer(fetch_result: FetchResult) -> Answer:
    if fetch_result.reason == "robots":
        return Answer(Outcome.ROBOTS)
    reason = fetch_result.reason or str(fetch_result.status)
    return Answer(Outcome.ERROR, reason, bytes=len(fetch_result.body))


def _redirect_answer(visit: Visit, fetch_result: FetchResult) -> Answer:
    """Return the answer to a 3xx. Without a valid target or a known code, it is an error."""
    target = normalise_address(fetch_result.headers.get("location", ""), visit.url)
    if target is None or fetch_result.status not in _REDIRECTS:
        return Answer(Outcome.ERROR, str(fetch_result.status), bytes=len(fetch_result.body))
    return Answer(Outcome.REDIRECT, bytes=len(fetch_result.body), links=((target, ""),))


def _unchanged_answer(known_page: KnownPage, *, etag: str, last_modified: str, size: int) -> Answer:
    return Answer(
        Outcome.UNCHANGED,
        bytes=size,
        links=known_page.links,
        etag=etag,
        modified=last_modified,
        sha256=known_page.sha256,
    )


def write_results(
    parish: str,
    journal: Journal,
    out: Path,
    *,
    known_pages: Mapping[str, KnownPage],
    known_folder: Path | None,
) -> dict[str, Any]:
    """Write the results of a crawl that has ended, and return its summary.

    They are the pages, and the known pages for the next run.
    """
    summary = journal.get_summary()
    assert summary is not None
    path = out / f"{parish}.jsonl"
    partial = path.with_name(f".{path.name}.part")
    try:
        with partial.open("wb") as file:
            for entry in journal.entries():
                if entry.page:
                    file.write(entry.page + b"\n")
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    if known_folder is not None:
        write_known_pages(known_folder, parish, known_pages, journal.entries())
    return summary
