"""Asks a server politely: one request after the other, with a pause between them; what fails is
asked again after 2, 4, 8 … seconds, or when the server says."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Self

import httpx
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
)

from masstimes.manners import GaveUp, Manners, Refused

#: Answers after which the same request may succeed.
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
#: Bytes of an answer, unpacked; seconds for the whole of it, and for each silence.
MOST_BYTES, MOST_SECONDS, MOST_SILENCE = 20_000_000, 300.0, 60.0
_MOST_REDIRECTS = 5


class _Later(Exception):
    """``after``: seconds that the server wants us to wait."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


@dataclass(frozen=True, slots=True)
class Answer:
    """``charset``: as its header says."""

    url: httpx.URL
    body: bytes
    charset: str | None


class Polite:
    """Asks as ``program``; ``sleep`` is given seconds."""

    def __init__(
        self, program: str, manners: Manners, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._manners = manners
        self._sleep = sleep
        self._asked = False
        self._client = httpx.Client(
            headers={"User-Agent": manners.user_agent(program)}, timeout=MOST_SILENCE
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def get(self, url: str, query: Mapping[str, str] | None = None) -> Answer:
        """Raises ``GaveUp`` after so many repeats in a row, or where the server wants a longer wait
        than ours; ``Refused`` for an answer that will stay the same. Errors name the address
        without ``query``, which may have a key in it."""
        retrying = Retrying(
            retry=retry_if_exception_type(_Later),
            wait=self._wait,
            stop=stop_after_attempt(self._manners.repeats + 1),
            sleep=self._wait_for,
            reraise=True,
        )
        try:
            return retrying(self._follow, url, query)
        except _Later as error:
            raise GaveUp(f"{url}: {error}, {self._manners.repeats + 1} times in a row") from error

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.after if isinstance(error, _Later) else 0.0
        return max(wait_exponential(multiplier=2, max=self._manners.max_wait)(state), asked)

    def _wait_for(self, seconds: float) -> None:
        self._asked = False  # this is the pause
        self._sleep(seconds * self._manners.delays)

    def _follow(self, url: str, query: Mapping[str, str] | None) -> Answer:
        """To another page of the same host, where the server says so."""
        request = self._client.build_request("GET", url, params=query)
        host = _host(request.url)
        for _ in range(_MOST_REDIRECTS + 1):
            if self._asked:
                self._wait_for(self._manners.pause)
            self._asked = True
            found = self._ask(url, request)
            if isinstance(found, Answer):
                return found
            if _host(found.url) != host:
                raise Refused(f"{url}: redirects to another host, {found.url.host}")
            request = found
        raise Refused(f"{url}: redirects more than {_MOST_REDIRECTS} times")

    def _ask(self, url: str, request: httpx.Request) -> Answer | httpx.Request:
        try:
            response = self._client.send(request, stream=True)
            try:
                self._judge(url, response)
                if response.next_request is not None:
                    return response.next_request
                return Answer(response.url, _body(url, response), response.charset_encoding)
            finally:
                response.close()
        except httpx.RemoteProtocolError as error:
            raise _Later(f"what it answers is no HTTP ({error})") from error
        except httpx.DecodingError as error:
            raise Refused(f"{url}: the answer cannot be unpacked") from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise Refused(f"{url}: redirects to what is no address ({error})") from error
        except httpx.TransportError as error:
            raise _Later(f"no answer ({error or type(error).__name__})") from error

    def _judge(self, url: str, response: httpx.Response) -> None:
        said = f"answered {response.status_code}"
        if response.status_code in _LATER:
            after = _retry_after(response.headers.get("Retry-After", ""))
            if after > self._manners.max_wait:
                longest = f"longer than {self._manners.max_wait:g} s (--max-wait)"
                raise GaveUp(f"{url}: {said} and wants {after:.0f} s to pass, {longest}")
            raise _Later(said, after)
        if not response.is_success and not response.has_redirect_location:
            raise Refused(f"{url}: {said}")


def _body(url: str, response: httpx.Response) -> bytes:
    body, until = bytearray(), time.monotonic() + MOST_SECONDS
    for part in response.iter_bytes():
        body += part
        if len(body) > MOST_BYTES:
            raise Refused(f"{url}: more than {MOST_BYTES} bytes")
        if time.monotonic() > until:
            raise _Later(f"took longer than {MOST_SECONDS:.0f} s")
    return bytes(body)


def _retry_after(value: str) -> float:
    """Seconds, or a date; 0 for what is neither."""
    if value.strip().isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return 0.0
    now = datetime.now(UTC)
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds())


def _host(url: httpx.URL) -> tuple[str, int | None]:
    """With and without ``www``, and with and without TLS, it is the same."""
    return url.host.removeprefix("www."), url.port
