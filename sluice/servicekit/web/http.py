"""The HTTP part of a service: problem details, health, readiness, metrics and request timing."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.routing import APIRoute
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import (
    PROBLEM_TYPE,
    Finding,
    Forbidden,
    NotAvailable,
    Problem,
    ServiceError,
    Unauthenticated,
    Unprocessable,
)
from sluice.contracts.common.wording import validation_sentence
from sluice.servicekit.access.check import GuardedRoute, OwnersGuard
from sluice.servicekit.access.policy import Other, RoutePolicy, allow, get_policy, policy
from sluice.servicekit.audit.requests import AuditedRequests
from sluice.servicekit.database import (
    TRANSIENT_ERRORS,
    UNSTORABLE,
    Database,
    error_text,
    to_not_available,
    unstorable,
)
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.transport.base import TransportUnavailable
from sluice.servicekit.web.dependencies import from_app, objects_by_class, require_objects
from sluice.servicekit.web.json_numbers import JsonNumbers
from sluice.servicekit.web.known_queries import KnownQuery, query_parameters
from sluice.servicekit.web.not_found import (
    describe_wrong_id,
    methods_at,
    name_with_slash,
    unserved_problem,
)
from sluice.servicekit.web.openapi import PROBLEM_JSON, complete_document, declare_problem
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

Check = Callable[[], Awaitable[None]]

#: Seconds that a readiness check may take.
CHECK_LIMIT = 4.0


@dataclass(frozen=True, slots=True)
class Health:
    """The readiness checks of a service. Each check raises if the service cannot work."""

    checks: dict[str, Check]

    async def report(self) -> dict[str, str]:
        """Return for each check "ok" or the reason for its failure."""
        answers = await asyncio.gather(*(_answer(check) for check in self.checks.values()))
        return dict(zip(self.checks, answers, strict=True))


async def _answer(check: Check) -> str:
    try:
        async with asyncio.timeout(CHECK_LIMIT):
            await check()
    except TimeoutError:
        return f"no answer within {CHECK_LIMIT:g} s"
    except TransportUnavailable as error:
        return error.what
    except Exception as error:  # process boundary: the report contains whatever a check raises
        return reason_of(error)
    return "ok"


def errors(*classes: type[ServiceError]) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI declaration of a route's error responses.

    Use it as ``@router.get(…, responses=errors(NotFound, Conflict))``.
    """
    return {error.status: declare_problem(error.title) for error in classes}


def api_router(prefix: str = "", *, tags: Sequence[str] = ()) -> APIRouter:
    """Return a router for the routes of a service.

    It declares the errors that every route can answer: a malformed request, a missing credential, a
    missing permission and an unavailable database.
    """
    answers = errors(Unauthenticated, Forbidden, Unprocessable, NotAvailable)
    return APIRouter(prefix=prefix, tags=list(tags), responses=answers)


def create_app(
    name: str,
    routers: Sequence[APIRouter],
    *,
    health: Health,
    metrics: ServiceMetrics,
    owners: OwnersGuard | None = None,
    audit: Database | None = None,
    provide: Sequence[object] = (),
) -> FastAPI:
    """Return an application with the routers, ``/healthz``, ``/readyz`` and ``/metrics``.

    Every error is a problem (RFC 9457). Each route enforces its policy. ``state.policies`` of the
    application maps each route to its policy. The routers stay unchanged, so several applications
    may have them.

    Args:
        name: The name of the service.
        routers: Routers from ``api_router``.
        health: The readiness checks.
        metrics: The metrics of the service.
        owners: Checks the ownership of objects that paths name.
        audit: The database of the audit log. None means that people's requests are not recorded.
        provide: The objects that routes get by ``from_app``, at most one of each class.

    Raises:
        MissingPolicy: A route declares no policy.
        MissingObject: ``provide`` lacks an object that a route needs.
    """
    app = FastAPI(
        title=f"Sluice {name}",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.objects = objects_by_class([*provide, health, metrics])
    for router in [*routers, _health_router]:
        # The routes are added directly, because ``include_router`` matches each request twice
        # (measured: a third of the time of a short request).
        app.router.routes.extend(
            _behind_policy(route, owners, app.state.objects) for route in router.routes
        )
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(UNSTORABLE, _unstorable)
    for transient_error in TRANSIENT_ERRORS:
        app.add_exception_handler(transient_error, _transient_error)
    app.add_exception_handler(Exception, _unexpected)
    app.add_middleware(NamesWithoutSlash)
    app.add_middleware(JsonNumbers, refuse=answer_to)
    if audit is not None:
        app.add_middleware(AuditedRequests, database=audit, refuse=answer_to)
    app.add_middleware(Timing, metrics=metrics)
    complete_document(app)
    app.state.policies = _policies(app)
    return app


def _behind_policy(
    route: BaseRoute, owners: OwnersGuard | None, objects: Mapping[type[Any], object]
) -> BaseRoute:
    """Return a copy of a route with its policy in front of it.

    Raises:
        MissingPolicy: The route declares no policy.
        MissingObject: The route needs an object that ``objects`` lacks.
    """
    if not isinstance(route, Route):
        raise TypeError(f"{route!r} is not a route that a policy could stand before")
    declared = get_policy(route.endpoint, route=_route_name(route))
    if isinstance(route, APIRoute):
        require_objects(route.dependant, objects, route=_route_name(route))
    answering = KnownQuery(route.app, query_parameters(route))
    guarded = copy(route)
    guarded.app = GuardedRoute(answering, declared, route.path, owners)
    return guarded


def _policies(app: FastAPI) -> dict[str, RoutePolicy]:
    """Return the policies by method and path. The OpenAPI document is open to everybody."""
    checked = [route for route in app.routes if isinstance(route, Route)]
    return {
        f"{method} {route.path}": policy(Other.EVERYBODY)
        if route.path == app.openapi_url
        else get_policy(route.endpoint, route=_route_name(route))
        for route in checked
        for method in sorted(route.methods or ())
    }


def _route_name(route: Route) -> str:
    return f"{'|'.join(sorted(route.methods or ()))} {route.path}"


_health_router = APIRouter(tags=["health"])


@_health_router.get("/healthz")
@allow(Other.EVERYBODY)
async def healthz() -> dict[str, str]:
    """Report that the process lives."""
    return {"status": "ok"}


@_health_router.get(
    "/readyz",
    responses={
        503: {
            "model": dict[str, str],
            "description": "The service is not ready. The answer has the reasons.",
        }
    },
)
@allow(Other.EVERYBODY)
async def readyz(
    health: Annotated[Health, Depends(from_app(Health))], response: Response
) -> dict[str, str]:
    """Report whether the service can work. If not, the answer is 503 with the reasons."""
    report = await health.report()
    if any(answer != "ok" for answer in report.values()):
        response.status_code = 503
    return report


@_health_router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=errors(Unauthenticated, Forbidden, NotAvailable),
)
@allow(Role.VIEWER, Other.SCRAPER)
async def prometheus(
    metrics: Annotated[ServiceMetrics, Depends(from_app(ServiceMetrics))],
) -> Response:
    """Return the service's metrics in the text format of Prometheus."""
    return Response(metrics.render(), media_type="text/plain; version=0.0.4")


class Timing:
    """ASGI middleware that times every request by the template of its route.

    The path itself would create a time series for each id.
    """

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request and record its time."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watch)
        finally:
            route = getattr(scope.get("route"), "path", "unmatched")
            self.metrics.requests.labels(scope["method"], route, status).observe(
                time.perf_counter() - started
            )


class NamesWithoutSlash:
    """ASGI middleware that refuses REST paths in which a name has a slash."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request whose path has an escaped slash, and pass on all others."""
        # In an embedded system, other services are mounted below their own paths.
        is_rest = scope["type"] == "http" and "/api/" in scope["path"]
        problem = name_with_slash(scope) if is_rest else None
        answer = self.app if problem is None else problem_response(problem)
        await answer(scope, receive, send)


def problem_response(problem: Problem) -> JSONResponse:
    """Return the response for a problem."""
    headers = {"WWW-Authenticate": "Bearer"} if problem.status == 401 else {}
    if problem.status == 429 and "seconds" in problem.fields:
        headers["Retry-After"] = str(problem.fields["seconds"])
    return JSONResponse(
        problem.model_dump(mode="json", exclude_none=True),
        status_code=problem.status,
        media_type=PROBLEM_JSON,
        headers=headers,
    )


#: The errors that middleware raises and turns into a response itself.
ANSWERABLE = (ServiceError, *TRANSIENT_ERRORS)


def answer_to(error: Exception) -> JSONResponse:
    """Return the response for an error of ``ANSWERABLE``."""
    service_error = error if isinstance(error, ServiceError) else to_not_available(error)
    return problem_response(service_error.problem())


async def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)  # noqa: S101 - registered for this class only
    return problem_response(error.problem())


async def _invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class only
    route = getattr(request.scope.get("route"), "path", "")
    return _malformed_request(*(Finding(message=_fault_text(e, route)) for e in error.errors()))


def _fault_text(error: ErrorDetails, route: str) -> str:
    if error["loc"][0] == "path":
        return describe_wrong_id(route, error)
    return f"{'.'.join(str(part) for part in error['loc'])}: {validation_sentence(error)}"


def _malformed_request(*findings: Finding) -> Response:
    return problem_response(
        Problem(
            type=PROBLEM_TYPE + "invalid-request",
            title="Malformed request",
            status=422,
            detail="; ".join(finding.message for finding in findings),
            findings=list(findings),
        )
    )


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    # The framework raised these errors: a missing object is a ServiceError.
    if error.status_code in {404, 405}:
        allowed = methods_at(request.scope)
        answer = problem_response(unserved_problem(request.method, request.url.path, allowed))
        if allowed:
            answer.headers["Allow"] = ", ".join(sorted(allowed))
        return answer
    if error.status_code == 400:  # raised by the framework for a body that it cannot parse at all
        return _malformed_request(
            Finding(
                message="body: it is not valid UTF-8, or has lists and objects too deep in others"
            )
        )
    return problem_response(
        Problem(
            title=str(error.detail),
            status=error.status_code,
            detail=f"{request.method} {request.url.path}",
        )
    )


async def _transient_error(request: Request, error: Exception) -> Response:
    log.warning("http.unavailable", path=request.url.path, reason=error_text(error))
    return problem_response(to_not_available(error).problem())


async def _unstorable(request: Request, error: Exception) -> Response:
    return problem_response(unstorable().problem())


async def _unexpected(request: Request, error: Exception) -> Response:
    log.error("http.unexpected", path=request.url.path, exc_info=error)
    return problem_response(
        Problem(
            type=PROBLEM_TYPE + "internal",
            title="Internal error",
            status=500,
            detail="unexpected; see the service's log",
        )
    )
