"""Error responses of the Flask application.

Addresses under ``/api`` get problems (RFC 9457), all others get pages for people.
"""

from collections.abc import Callable
from uuid import UUID

import structlog
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge
from werkzeug.routing import MapAdapter, RequestRedirect

from sluice.contracts.common.problems import PROBLEM_TYPE, Problem, ServiceError
from sluice.contracts.common.wording import A_UID
from sluice.servicekit.database import (
    TRANSIENT_ERRORS,
    UNSTORABLE,
    error_text,
    to_not_available,
    unstorable,
)
from sluice.servicekit.web.not_found import (
    malformed_id_problem,
    methods_at,
    name_with_slash,
    unserved_problem,
)
from wfms.operator.errors import RequestTooLarge

log = structlog.get_logger(__name__)

PROBLEM_JSON = "application/problem+json"

#: An example of each kind of id in addresses, and the words for it.
_IDS = {
    str(UUID(int=0)): f"its {A_UID}",
    "0": "its number",
}

#: Renders the page that shows a problem to a person.
ErrorPage = Callable[[Problem], str]


def answer_errors(app: Flask, error_page: ErrorPage) -> None:
    """Register handlers for all errors that a view can raise."""

    def answer(problem: Problem) -> Response:
        if request.path.startswith("/api/"):
            return flask_problem_response(problem)
        return Response(error_page(problem), status=problem.status, mimetype="text/html")

    def service_error(error: ServiceError) -> Response:
        return answer(error.problem())

    def http_error(error: HTTPException) -> Response:
        if isinstance(error, RequestEntityTooLarge):
            return answer(RequestTooLarge(app.config["MAX_CONTENT_LENGTH"]).problem())
        if error.code is not None and error.code < 400:
            return Response(error.get_body(), status=error.code, headers=error.get_headers())
        if isinstance(error, NotFound | MethodNotAllowed):
            allowed = _methods_here(error)
            problem = None if allowed else _find_misnamed_address(app.url_map.bind(""))
            response = answer(problem or unserved_problem(request.method, request.path, allowed))
            response.allow.update(allowed)
            return response
        title = error.name or "Error"
        return answer(
            Problem(title=title, status=error.code or 500, detail=error.description or "")
        )

    def transient_error(error: Exception) -> Response:
        log.warning("http.unavailable", path=request.path, reason=error_text(error))
        return answer(to_not_available(error).problem())

    def not_storable(error: Exception) -> Response:
        return answer(unstorable().problem())

    def unexpected(error: Exception) -> Response:
        log.error("http.unexpected", path=request.path, exc_info=error)
        detail = "unexpected; see the service's log"
        return answer(
            Problem(
                type=PROBLEM_TYPE + "internal", title="Internal error", status=500, detail=detail
            )
        )

    app.register_error_handler(ServiceError, service_error)
    app.register_error_handler(HTTPException, http_error)
    for kind in TRANSIENT_ERRORS:
        app.register_error_handler(kind, transient_error)
    app.register_error_handler(UNSTORABLE, not_storable)
    app.register_error_handler(Exception, unexpected)


def _methods_here(error: NotFound | MethodNotAllowed) -> set[str]:
    """Return the methods by which Flask or FastAPI serves the address of the request."""
    methods = methods_at(request.environ["asgi.scope"])
    return (
        methods.union(error.valid_methods or ()) if isinstance(error, MethodNotAllowed) else methods
    )


def _find_misnamed_address(addresses: MapAdapter) -> Problem | None:
    """Return the problem of a name with a slash, or of a wrong id in an address, or None."""
    if (problem := name_with_slash(request.environ["asgi.scope"])) is not None:
        return problem
    parts = request.path.split("/")
    for place, segment in enumerate(parts[2:], 2):
        for example, expected in _IDS.items():
            candidate = "/".join([*parts[:place], example, *parts[place + 1 :]])
            try:
                addresses.match(candidate, method=request.method)
            except (NotFound, RequestRedirect):
                continue
            except MethodNotAllowed:
                pass
            return malformed_id_problem(parts[place - 1], segment, expected)
    return None


def flask_problem_response(problem: Problem) -> Response:
    """Return a problem (RFC 9457) as a Flask response."""
    headers = {"WWW-Authenticate": "Bearer"} if problem.status == 401 else None
    return Response(
        problem.model_dump_json(exclude_none=True),
        status=problem.status,
        content_type=PROBLEM_JSON,
        headers=headers,
    )
