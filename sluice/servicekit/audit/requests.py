"""ASGI middleware that writes audit events before and after people's changing requests."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sluice.contracts.access.audit import AuditKind
from sluice.contracts.common.problems import ServiceError
from sluice.servicekit.access.principal import Person, find_principal
from sluice.servicekit.audit.request import PersonRequest, current_request, to_texts
from sluice.servicekit.audit.rows import note
from sluice.servicekit.database import TRANSIENT_ERRORS, Database, error_text

log = structlog.get_logger(__name__)

#: The fields of a response that are recorded as facts. Nothing else of it is kept.
_FACT_FIELDS = (
    "uid", "id", "name", "version", "role", "groups", "group", "shared_with", "person", "label",
    "state", "dataset_uid", "dataset_name", "template",
)  # fmt: skip
#: The maximum number of bytes of a response that are parsed.
_MAX_BODY = 64 * 1024


class AuditedRequests:
    """ASGI middleware that writes audit events.

    ``refuse`` makes the response when the audit log cannot be written.
    """

    def __init__(
        self, app: ASGIApp, database: Database, refuse: Callable[[Exception], ASGIApp]
    ) -> None:
        self._app = app
        self._database = database
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Record a person's changing request before and after it is answered."""
        request = current_request() if scope["type"] == "http" else None
        if request is None or request.reads or not isinstance(find_principal(scope), Person):
            await self._app(scope, receive, send)
            return
        try:
            async with self._database.connection() as connection:
                await note(connection, request, AuditKind.BEGUN)
        except (ServiceError, *TRANSIENT_ERRORS) as error:  # nothing is done that is not recorded
            await self._refuse(error)(scope, receive, send)
            return
        answer = _Answer(send)
        try:
            await self._app(scope, receive, answer)
        finally:
            request.facts.update(answer.facts)
            await self._note_end(request, answer.status)

    async def _note_end(self, request: PersonRequest, status: int) -> None:
        """Record the result, and only log a failure, because the response has been sent."""
        try:
            async with self._database.connection() as connection:
                await note(connection, request, AuditKind.ENDED, outcome=status)
        except (ServiceError, *TRANSIENT_ERRORS) as error:
            log.warning("audit.end_not_noted", request=str(request.uid), reason=error_text(error))


class _Answer:
    """Observer of a response on its way out. ``status`` is 500 if no response was sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._body = bytearray()
        self._is_json = False
        self.status = 500
        self.facts: dict[str, str] = {}

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = Headers(raw=message.get("headers", []))
            self._is_json = headers.get("content-type", "").startswith("application/json")
            self.facts |= to_texts({"location": headers.get("location")})
        elif self._is_json:
            self._collect_body(message)
        await self._send(message)

    def _collect_body(self, message: Message) -> None:
        self._body += message.get("body", b"")[: _MAX_BODY - len(self._body)]
        if not message.get("more_body", False):
            try:
                self.facts |= _facts(json.loads(bytes(self._body)))
            except (ValueError, RecursionError):  # the body is longer than ``_MAX_BODY``
                return


def _facts(answer: Any) -> dict[str, str]:
    """Return the facts of a JSON object and of the objects directly in it."""
    if not isinstance(answer, Mapping):
        return {}
    facts: dict[str, str] = {}
    for inner in (value for value in answer.values() if isinstance(value, Mapping)):
        facts = to_texts({name: _plain(inner.get(name)) for name in _FACT_FIELDS}) | facts
    return facts | to_texts({name: _plain(answer.get(name)) for name in _FACT_FIELDS})


def _plain(value: Any) -> str | None:
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return None
