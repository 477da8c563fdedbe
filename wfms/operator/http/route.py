"""Declarations of REST routes.

Flask serves a route and the OpenAPI document describes it, both from the same declaration.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_origin

from flask import Blueprint, Response, request
from pydantic import BaseModel, ValidationError

from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import Finding, ServiceError
from sluice.contracts.common.wording import validation_sentence
from sluice.servicekit.access.policy import RoutePolicy, under
from sluice.servicekit.web.known_queries import require_known_query
from wfms.operator.errors import RequestRefused
from wfms.operator.http.access import caller, principal_now
from wfms.operator.http.body import read_body
from wfms.operator.http.bridge import Bridge

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class RouteResponse:
    """An answer with its own status, or the answer of another service.

    Attributes:
        body: Content of the answer; None gives status 204.
        headers: Headers that add to or replace those of all answers.
    """

    body: Contract | bytes | None
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


#: Query parameters of a route that takes a plain text or an archive.
UPLOAD_PARAMETERS = ("name", "main")

#: Called on the event loop with the parts of the path by name, and with ``query`` and ``body`` if
#: the route declares them.
View = Callable[..., Awaitable[Contract | RouteResponse | None]]


@dataclass(frozen=True, slots=True)
class Route:
    """The declaration of a REST route.

    Attributes:
        rule: Path below ``/api/v1`` with Flask's converters.
        operation_id: Name of the route in the OpenAPI document and of the client's method.
        access: Who may use the route.
        many: The answer is a list of ``answer``.
        again: Status of a request that changed nothing because an earlier one did.
        read: Reads the body if it is not plain JSON.
    """

    method: str
    rule: str
    operation_id: str
    view: View
    access: RoutePolicy
    summary: str
    answer: type[BaseModel] | None = None
    many: bool = False
    status: int = 200
    again: int | None = None
    body: type[Contract] | None = None
    query: type[Contract] | None = None
    #: The query, if another service reads it.
    forwarded_query: type[Contract] | None = None
    #: The OpenAPI operation, if another service answers. Answers, body and errors are there.
    operation: Mapping[str, Any] | None = None
    errors: tuple[type[ServiceError], ...] = ()
    read: Callable[[], Any] | None = None
    #: The route takes a form with files or plain text, beside JSON.
    uploads: bool = False
    #: Media type of an answer that is not JSON.
    media: str | None = None
    #: The route takes bytes.
    sends_bytes: bool = False
    #: The view gets the person who sends the request as ``caller``.
    needs_caller: bool = False
    #: How clients send the request, from ``client_hints``.
    client: Mapping[str, Any] = field(default_factory=dict)


def blueprint(routes: list[Route], bridge: Bridge) -> Blueprint:
    """Return the Flask blueprint that serves the routes."""
    rest = Blueprint("rest", __name__, url_prefix="/api/v1")
    for route in routes:
        rest.add_url_rule(
            route.rule, route.operation_id, _serve(route, bridge), methods=[route.method]
        )
    return rest


def _serve(route: Route, bridge: Bridge) -> Callable[..., Response]:
    known_parameters = _query_parameters(route)

    @under(route.access)
    def serve(**path: Any) -> Response:
        require_known_query(principal_now(), request.args, known_parameters)
        arguments: dict[str, Any] = dict(path)
        if route.query is not None:
            arguments["query"] = parse_query(route.query)
        if route.read is not None:
            arguments["body"] = route.read()
        elif route.body is not None:
            arguments["body"] = parse_json(route.body)
        if route.needs_caller:
            arguments["caller"] = caller()
        return _build_response(bridge.run(_call(route.view, arguments)), route.status)

    return serve


def _query_parameters(route: Route) -> frozenset[str]:
    query = route.query or route.forwarded_query
    return frozenset(
        {
            *(query.model_fields if query else ()),
            *(UPLOAD_PARAMETERS if route.uploads else ()),
            *(
                parameter["name"]
                for parameter in (route.operation or {}).get("parameters", ())
                if parameter["in"] == "query"
            ),
        }
    )


async def _call(view: View, arguments: dict[str, Any]) -> Contract | RouteResponse | None:
    return await view(**arguments)


def _build_response(answer: Contract | RouteResponse | None, status: int) -> Response:
    if not isinstance(answer, RouteResponse):
        answer = RouteResponse(answer, status)
    match answer.body:
        case None:
            return Response(status=204)
        case bytes() as data:
            return Response(
                data,
                status=answer.status,
                content_type=answer.content_type,
                headers=dict(answer.headers),
            )
        case Contract() as model:
            return Response(
                model.model_dump_json(), status=answer.status, content_type=answer.content_type
            )


def parse_json(model: type[ModelT]) -> ModelT:
    """Parse the JSON body of the request.

    Raises:
        RequestRefused: Fields are wrong; the error names each of them.
    """
    try:
        return model.model_validate_json(read_body() or b"{}")
    except ValidationError as error:
        raise to_request_refused("body", error) from error


def parse_query(model: type[ModelT]) -> ModelT:
    """Parse the query of the request. A list parameter gets all its values.

    Raises:
        RequestRefused: A parameter is unknown, or its value is wrong.
    """
    values: dict[str, Any] = request.args.to_dict()
    for name, described in model.model_fields.items():
        if get_origin(described.annotation) is list and name in values:
            values[name] = request.args.getlist(name)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise to_request_refused("query", error) from error


def to_request_refused(part: str, error: ValidationError) -> RequestRefused:
    """Return the error for a part of a request that failed validation."""
    findings = [
        Finding(message=f"{'.'.join([part, *map(str, e['loc'])])}: {validation_sentence(e)}")
        for e in error.errors()
    ]
    return RequestRefused(findings)
