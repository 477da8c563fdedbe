"""Polite requests: one at a time, with a pause between them.

A request that fails is repeated after 2, 4, 8 … seconds, or when the server says.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
)

from masstimes.crawl.addresses import is_local
from masstimes.request_policy import RequestPolicy, RequestRefused, ServerUnavailable
from sluice.network.http_clients import connection_options
from sluice.text.os_errors import reason_of

T = TypeVar("T")
#: Statuses after which the same request may succeed.
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
#: The unpacked size of an answer in bytes, the time for all of it and between bytes in seconds.
MAX_BYTES, MAX_SECONDS, MAX_SILENCE = 20_000_000, 300.0, 60.0
_MAX_REDIRECTS = 5


class RetryLater(Exception):
    """The request may succeed later. ``after`` is the wait in seconds that the server wants."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request to an API.

    Attributes:
        url: The address, without the query.
        query: Parameters. No message shows them, because a key may be among them.
        headers: Additional headers. No message shows them either.
        body: The JSON of a POST. Without it, the request is a GET.
        answers: Statuses other than 2xx whose answers the caller reads itself.
    """

    url: str
    query: Mapping[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    answers: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. ``content_type`` is the header of that name, or empty."""

    url: httpx.URL
    body: bytes
    content_type: str
    status: int = 200


class PoliteClient:
    """A sender of requests as ``program``. ``sleep`` is called with seconds."""

    def __init__(
        self, program: str, policy: RequestPolicy, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._policy = policy
        self._sleep = sleep
        self._has_sent = False
        self._pause = policy.pause
        self.user_agent = policy.user_agent(program)
        self._clients: dict[tuple[str, str], httpx.Client] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for client in self._clients.values():
            client.close()

    def get(self, url: str) -> Answer:
        """Return the page at ``url``, and follow redirects on the same host.

        Raises:
            ServerUnavailable: Each repeat failed, or the server wants a longer wait than ours.
            RequestRefused: The answer will stay the same.
        """
        return self._repeat(url, lambda: self._follow(url))

    def get_start(self, url: str, size: int) -> bytes:
        """Return the first bytes of ``url``, about ``size``, and follow redirects to other hosts.

        Raises:
            ServerUnavailable: Each repeat failed, or the server wants a longer wait than ours.
            RequestRefused: The answer will stay the same.
        """
        return self._repeat(url, lambda: self._follow(url, first=size)).body

    def slow_down(self, pause: float) -> None:
        """Wait at least ``pause`` seconds between two requests, at most ``max_wait``."""
        self._pause = max(self._pause, min(pause, self._policy.max_wait))

    def call(self, request: ApiRequest, read: Callable[[Answer], T]) -> T:
        """Return what ``read`` returns for an API's answer. Redirects are not followed.

        ``read`` may raise ``RetryLater``, after which the request is repeated.

        Raises:
            ServerUnavailable: Each repeat failed, or the server wants a longer wait than ours.
            RequestRefused: The answer will stay the same.
        """
        return self._repeat(request.url, lambda: read(self._call(request)))

    def _repeat(self, url: str, attempt: Callable[[], T]) -> T:
        retrying = Retrying(
            retry=retry_if_exception_type(RetryLater),
            wait=self._retry_wait,
            stop=stop_after_attempt(self._policy.repeats + 1),
            sleep=self.wait,
            reraise=True,
        )
        try:
            return retrying(attempt)
        except RetryLater as error:
            raise ServerUnavailable(
                f"{url}: {error}, {self._policy.repeats + 1} times in a row"
            ) from error

    def _retry_wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        requested_wait = error.after if isinstance(error, RetryLater) else 0.0
        return max(wait_exponential(multiplier=2, max=self._policy.max_wait)(state), requested_wait)

    def wait(self, seconds: float) -> None:
        """Wait instead of the pause before the next request."""
        self._has_sent = False  # this is the pause
        self._sleep(seconds * self._policy.delays)

    def _follow(self, url: str, *, first: int | None = None) -> Answer:
        """Return a page, and follow redirects on the same host.

        Args:
            url: The address of the page.
            first: The number of bytes to read. With it, redirects to other hosts are followed too.
        """
        request = self._client(url).build_request("GET", url)
        host = _host(request.url)
        for _ in range(_MAX_REDIRECTS + 1):
            result = self._send(url, request, frozenset(), first=first)
            if isinstance(result, Answer):
                return result
            if is_local(str(result.url)) and not is_local(url):
                raise RequestRefused(f"{url}: redirects into the network of this machine")
            if _host(result.url) != host and first is None:
                raise RequestRefused(f"{url}: redirects to another host, {result.url.host}")
            request = result
        raise RequestRefused(f"{url}: redirects more than {_MAX_REDIRECTS} times")

    def _call(self, call: ApiRequest) -> Answer:
        request = self._client(call.url).build_request(
            "GET" if call.body is None else "POST",
            call.url,
            params=call.query,
            headers=dict(call.headers),
            json=call.body,
        )
        result = self._send(call.url, request, call.answers)
        if isinstance(result, httpx.Request):
            raise RequestRefused(f"{call.url}: redirects to {result.url.copy_with(query=None)}")
        return result

    def _client(self, url: str | httpx.URL) -> httpx.Client:
        """Return the client for a host. It uses a proxy if all of Sluice does."""
        target = httpx.URL(url)
        place = (target.scheme, target.netloc.decode("ascii"))
        if place not in self._clients:
            self._clients[place] = httpx.Client(
                headers={"User-Agent": self.user_agent},
                timeout=MAX_SILENCE,
                **connection_options(str(target)),
            )
        return self._clients[place]

    def _send(
        self,
        url: str,
        request: httpx.Request,
        answers: frozenset[int],
        *,
        first: int | None = None,
    ) -> Answer | httpx.Request:
        """Send one request after the pause, and return its answer or the redirected request."""
        if self._has_sent:
            self.wait(self._pause)
        self._has_sent = True
        try:
            response = self._client(request.url).send(request, stream=True)
            try:
                if response.status_code not in answers:
                    self._check_status(url, response)
                    if response.next_request is not None:
                        return response.next_request
                body = _read_body(url, response, first)
                content_type = response.headers.get("Content-Type", "")
                return Answer(response.url, body, content_type, response.status_code)
            finally:
                response.close()
        except httpx.RemoteProtocolError as error:
            raise RetryLater(f"its answer is not HTTP ({reason_of(error)})") from error
        except httpx.DecodingError as error:
            raise RequestRefused(f"{url}: the answer cannot be unpacked") from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise RequestRefused(
                f"{url}: redirects to an invalid address ({reason_of(error)})"
            ) from error
        except httpx.TransportError as error:
            raise RetryLater(f"no answer ({reason_of(error)})") from error

    def _check_status(self, url: str, response: httpx.Response) -> None:
        reason = f"answered {response.status_code}"
        if response.status_code in _LATER:
            after = retry_after(response.headers.get("Retry-After", ""))
            if after > self._policy.max_wait:
                limit = f"longer than {self._policy.max_wait:g} s (--max-wait)"
                raise ServerUnavailable(f"{url}: {reason} and wants {after:.0f} s to pass, {limit}")
            raise RetryLater(reason, after)
        if not response.is_success and not response.has_redirect_location:
            raise RequestRefused(f"{url}: {reason}", status=response.status_code)


def _read_body(url: str, response: httpx.Response, first: int | None) -> bytes:
    """Return a body. With ``first``, reading stops soon after that number of bytes."""
    body, deadline = bytearray(), time.monotonic() + MAX_SECONDS
    for part in response.iter_bytes():
        body += part
        if first is not None and len(body) > first:
            break
        if len(body) > MAX_BYTES:
            raise RequestRefused(f"{url}: more than {MAX_BYTES} bytes")
        if time.monotonic() > deadline:
            raise RetryLater(f"took longer than {MAX_SECONDS:.0f} s")
    return bytes(body)


def retry_after(value: str) -> float:
    """Return the seconds that a header `Retry-After` asks for, 0 if it is no time."""
    if value.strip().isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return 0.0
    now = datetime.now(UTC)
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds())


def _host(url: httpx.URL) -> tuple[str, int | None]:
    """Return the host and port for a comparison.

    They are equal with and without ``www``, and for default ports also with and without TLS.
    """
    return url.host.removeprefix("www."), url.port
