"""The queue of addresses of a site.

Its state depends only on the answers, so that a crawl resumes by getting the same answers again.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from masstimes.crawl.addresses import address_key, is_sane
from masstimes.crawl.limits import Ending, Limits


@dataclass(frozen=True, slots=True)
class Visit:
    """An address to request. ``hops`` counts redirects on the way."""

    url: str
    depth: int = 0
    previous_url: str = ""
    link_text: str = ""
    hops: int = 0


class Outcome(StrEnum):
    """The outcome of a visit."""

    PAGE = "page"
    UNCHANGED = "unchanged"
    BINARY = "binary"
    REDIRECT = "redirect"
    ROBOTS = "robots"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a visit.

    ``reason`` belongs to an error. ``bytes`` is the size of the body. ``links`` are addresses and
    texts; a redirect has its target. ``etag``, ``modified`` and ``sha256`` identify the page in the
    next run.
    """

    outcome: Outcome
    reason: str = ""
    bytes: int = 0
    links: tuple[tuple[str, str], ...] = ()
    etag: str = ""
    modified: str = ""
    sha256: str = ""


@dataclass
class Tally:
    """The counts of a site so far."""

    requests: int = 0
    bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    failures_in_a_row: int = 0


class Visits:
    """A breadth-first queue of addresses that the site ``owns``. Redirects come first."""

    def __init__(self, start: str, owns: Callable[[str], bool], limits: Limits) -> None:
        self._owns, self._limits = owns, limits
        self._waiting = deque([Visit(start)])
        self._seen_keys = {address_key(start)}
        self._queries: Counter[str] = Counter()
        self.tally = Tally()

    def next(self) -> Visit | None:
        """Return the next visit. It stays the next until ``apply_answer`` is called."""
        return self._waiting[0] if self._waiting else None

    def ending(self) -> Ending | None:
        """Return why the crawl ends, or None if it continues."""
        tally, limits = self.tally, self._limits
        if not self._waiting:
            return self._final_ending()
        if tally.failures_in_a_row >= limits.failures:
            return Ending.FAILURES
        if tally.requests >= limits.pages:
            return Ending.PAGES
        return Ending.BYTES if tally.bytes >= limits.site else None

    def _final_ending(self) -> Ending:
        outcomes = self.tally.outcomes
        if outcomes[Outcome.PAGE] or outcomes[Outcome.UNCHANGED] or outcomes[Outcome.BINARY]:
            return Ending.DONE
        if outcomes[Outcome.ROBOTS]:
            return Ending.ROBOTS
        return Ending.ELSEWHERE if self.tally.errors["elsewhere"] else Ending.UNREACHABLE

    def apply_answer(self, answer: Answer) -> None:
        """Apply the answer to the next visit."""
        visit, tally = self._waiting.popleft(), self.tally
        tally.requests += 1
        tally.bytes += answer.bytes
        tally.outcomes[answer.outcome] += 1
        failed = answer.outcome is Outcome.ERROR
        tally.failures_in_a_row = tally.failures_in_a_row + 1 if failed else 0
        if failed:
            tally.errors[answer.reason] += 1
        elif answer.outcome is Outcome.REDIRECT:
            self._redirect(visit, answer.links[0][0])
        elif visit.depth < self._limits.depth:
            self._follow(visit, answer.links)

    def _redirect(self, visit: Visit, target: str) -> None:
        if visit.hops >= self._limits.redirects:
            self.tally.errors["redirects"] += 1
        elif not self._owns(target):
            self.tally.errors["elsewhere"] += 1
        elif address_key(target) not in self._seen_keys or target == visit.url:
            # Some sites redirect to the same page at the first request.
            self._seen_keys.add(address_key(target))
            redirected = Visit(
                target, visit.depth, visit.previous_url, visit.link_text, visit.hops + 1
            )
            self._waiting.appendleft(redirected)

    def _follow(self, visit: Visit, links: Iterable[tuple[str, str]]) -> None:
        for url, text in links:
            if not self._owns(url) or not is_sane(url, self._limits):
                continue
            if (page_key := address_key(url)) in self._seen_keys:
                continue
            plain, _, query = url.partition("?")
            if query and self._queries[plain] >= self._limits.queries:
                continue
            self._queries[plain] += bool(query)
            self._seen_keys.add(page_key)
            self._waiting.append(Visit(url, visit.depth + 1, visit.url, text))
