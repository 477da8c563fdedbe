"""Base of all clients: typed calls, errors as raised by the service, and quick retries."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from itertools import pairwise
from typing import Any, ClassVar, TypeVar, cast, overload
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError
from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import (
    PROBLEM_TYPE,
    Conflict,
    Forbidden,
    NotAvailable,
    NotFound,
    Problem,
    ServiceError,
    Unauthenticated,
    Unprocessable,
)
from sluice.contracts.common.wording import first_fault, singular_noun
from sluice.network.proxies import direct_connection_note
from sluice.network.unknown_routes import is_unknown_route, too_old_text
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

AnswerT = TypeVar("AnswerT", bound=BaseModel)

#: The path prefix of all routes.
API = "/api/v1"

#: Values of a query string. None omits the parameter, a sequence repeats it.
Parameters = Mapping[str, object]

_BY_STATUS: dict[int, type[ServiceError]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    408: NotAvailable,  # the network was slow and may be faster next time
    409: Conflict,
    413: Unprocessable,  # a smaller request may be accepted
    422: Unprocessable,
    502: NotAvailable,
    503: NotAvailable,
    504: NotAvailable,
}
_RETRY = AsyncRetrying(
    retry=retry_if_exception_type(NotAvailable),
    stop=stop_after_attempt(4),
    wait=wait_random_exponential(multiplier=0.1, max=2.0),
    reraise=True,
)


def build_path(*parts: str) -> str:
    """Return the path of a route, with its parts escaped."""
    return "/".join([API, *(quote(part, safe="") for part in parts)])


class ServiceClient:
    """Client of one service, over an ``httpx.AsyncClient`` with the service's ``base_url``.

    In an embedded system the service may run in the same process. Calls raise the ``ServiceError``
    of the service's response (``Unauthenticated``, ``Forbidden``, ``NotFound``, ``Conflict``,
    ``Unprocessable`` with its findings, ``NotAvailable``, else ``ServiceError`` with ``status``).
    They raise ``NotAvailable`` if the service does not answer in time.
    """

    service: ClassVar[str] = "service"

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    @overload
    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Contract | None = ...,
        answer: type[AnswerT],
        params: Parameters | None = ...,
        retry: bool = ...,
        seconds: float | None = ...,
    ) -> AnswerT: ...

    @overload
    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Contract | None = ...,
        answer: None = ...,
        params: Parameters | None = ...,
        retry: bool = ...,
        seconds: float | None = ...,
    ) -> None: ...

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Contract | None = None,
        answer: type[AnswerT] | None = None,
        params: Parameters | None = None,
        retry: bool = True,
        seconds: float | None = None,
    ) -> AnswerT | None:
        """Call the service.

        Args:
            method: The HTTP method.
            path: The path.
            body: The body of the request.
            answer: The type of the response's body. None means that the body is ignored.
            params: The query string.
            retry: Whether to retry up to three times while the service is unavailable. Every call
                of this system is idempotent unless it says otherwise.
            seconds: The timeout. Defaults to that of the client.
        """
        request = self._request(
            method,
            path,
            content=None if body is None else _content(body),
            headers={} if body is None else {"content-type": "application/json"},
            params=build_query(params),
            timeout=httpx.USE_CLIENT_DEFAULT if seconds is None else seconds,
        )
        response = await (_RETRY.copy()(self._send, request) if retry else self._send(request))
        return None if answer is None else self._read(response, answer)

    async def create(
        self, path: str, *, body: Contract, answer: type[AnswerT]
    ) -> tuple[AnswerT, bool]:
        """Send a ``POST`` that creates an object once.

        Returns:
            The object, and whether it was created now (201) or existed already.
        """
        request = self._request(
            "POST",
            path,
            content=_content(body),
            headers={"content-type": "application/json"},
        )
        response: httpx.Response = await _RETRY.copy()(self._send, request)
        return self._read(response, answer), response.status_code == httpx.codes.CREATED

    async def send(
        self, path: str, data: bytes, *, params: Parameters, seconds: float | None = None
    ) -> None:
        """Send bytes with ``PUT``, retried as in ``call``."""
        request = self._request(
            "PUT",
            path,
            content=data,
            headers={"content-type": "application/octet-stream"},
            params=build_query(params),
            timeout=httpx.USE_CLIENT_DEFAULT if seconds is None else seconds,
        )
        await _RETRY.copy()(self._send, request)

    @asynccontextmanager
    async def stream(
        self, path: str, *, headers: Mapping[str, str]
    ) -> AsyncIterator[httpx.Response]:
        """Yield the response to a ``GET`` for streaming.

        A response that breaks off raises httpx's ``TransportError``.
        """
        request = self._request("GET", path, headers=headers)
        response = await self._send_request(request, stream=True)
        try:
            if not response.is_success:
                await response.aread()
                raise _build_error(self.service, response)
            yield response
        finally:
            await response.aclose()

    def _request(self, method: str, path: str, **parts: Any) -> httpx.Request:
        """Build a request.

        Raises:
            Unprocessable: A part of the path is empty, ``.`` or ``..``, which would lead elsewhere.
        """
        for kind, part in pairwise(path.split("/")):
            if kind and not part:
                noun = singular_noun(kind)
                raise Unprocessable(
                    f"an empty text names no {noun}: give the {noun}'s name",
                    service=self.service,
                )
            if part in {".", ".."}:
                raise Unprocessable(f"{quoted(part)} is not a valid name", service=self.service)
        return self._http.build_request(method, path, **parts)

    def _read(self, response: httpx.Response, answer: type[AnswerT]) -> AnswerT:
        try:
            # A later release may answer with fields that this one does not know (ADR 5).
            return answer.model_validate_json(response.content, extra="ignore")
        except ValidationError as error:
            endpoint = f"{response.request.method} {response.request.url.path}"
            sentence = (
                f"the {self.service} service answered {endpoint} with something other than"
                f" {answer.__name__} ({first_fault(error)}): check that it is of the same release"
            )
            raise ServiceError(sentence, service=self.service) from error

    async def _send(self, request: httpx.Request) -> httpx.Response:
        response = await self._send_request(request)
        if response.is_success:
            return response
        raise _build_error(self.service, response)

    async def _send_request(
        self, request: httpx.Request, *, stream: bool = False
    ) -> httpx.Response:
        try:
            return await self._http.send(request, stream=stream)
        except httpx.TransportError as error:
            kind = (
                "did not answer in time"
                if isinstance(error, httpx.TimeoutException)
                else "cannot be reached"
            )
            sentence = (
                f"the {self.service} service at {self._http.base_url} {kind}:"
                f" {reason_of(error)}"
                f"{direct_connection_note(str(self._http.base_url))}"
            )
            raise NotAvailable(sentence, service=self.service) from error


def _content(body: Contract) -> bytes:
    """Return a body without defaults, so that a service of an older release can read it."""
    return body.model_dump_json(exclude_defaults=True).encode()


def build_query(params: Parameters | None) -> httpx.QueryParams | None:
    """Return the query string of a request, with ISO 8601 times."""
    if params is None:
        return None
    pairs: list[tuple[str, str | int | float | bool | None]] = []
    for key, value in params.items():
        many = isinstance(value, list | tuple | set | frozenset)
        values = cast(Iterable[object], value) if many else [value]
        pairs += [(key, _text(item)) for item in values if item is not None]
    return httpx.QueryParams(pairs)


def _text(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case datetime():
            return value.isoformat()
    return str(value)


def _build_error(service: str, response: httpx.Response) -> ServiceError:
    problem = _read_problem(response)
    kind = _BY_STATUS.get(response.status_code, ServiceError)
    detail = problem.detail or problem.title
    is_problem = response.headers.get("content-type", "").startswith("application/problem+json")
    if is_problem and is_unknown_route(response.status_code, problem.type):
        url = response.request.url
        address = str(url.copy_with(path="/", query=None)).rstrip("/")
        detail = too_old_text(address, response.request.method, url.path)
    fields: dict[str, Any] = {
        key: value for key, value in problem.fields.items() if key not in {"detail", "findings"}
    }
    error = kind(detail, findings=list(problem.findings), **{"service": service, **fields})
    error.status = response.status_code
    error.title = problem.title
    if problem.type.startswith(PROBLEM_TYPE):
        error.slug = problem.type.removeprefix(PROBLEM_TYPE)
    return error


def _read_problem(response: httpx.Response) -> Problem:
    """Return the problem in a response, or one made from other content.

    Pages of proxies and the output of other programs are not shown, but a plain line is.
    """
    try:
        return Problem.model_validate_json(response.content, extra="ignore")
    except ValidationError:
        title, text = f"HTTP {response.status_code} {response.reason_phrase}", response.text.strip()
        plain = text and text.isprintable() and "<" not in text and not text.startswith(("{", "["))
        request = response.request
        unexplained = (
            f"{request.method} {request.url.copy_with(query=None)} was answered with"
            f" {title.strip()}, without a reason: check whether Sluice answers at this address"
        )
        return Problem(
            title=title.strip(),
            status=response.status_code,
            detail=text[:500] if plain else unexplained,
        )
