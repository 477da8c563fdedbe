"""REST routes of other services, forwarded with the same path, query and answer."""

from collections.abc import Mapping
from typing import Any

import httpx
from flask import request

from sluice.contracts.common.problems import NotAvailable
from wfms.operator.gateway.api.forwarded_queries import QUERIES
from wfms.operator.gateway.api.forwarded_table import FORWARDED
from wfms.operator.gateway.usecases.forward_request import ForwardedRequest, forward_request
from wfms.operator.http.body import read_body
from wfms.operator.http.route import Route, RouteResponse, View


def forwarded_routes(others: Mapping[str, httpx.AsyncClient], *, largest: int) -> list[Route]:
    """Return the declarations of the forwarded routes.

    Args:
        others: HTTP clients by service.
        largest: Limit of a body in bytes. One request may register ten thousand files.
    """

    def read() -> ForwardedRequest:
        content = read_body(largest)
        return ForwardedRequest(
            request.method,
            request.path,
            request.query_string.decode("latin-1"),
            content,
            request.content_type or "",
        )

    return [
        Route(
            each.method,
            each.rule,
            _view(others, each.service),
            each.access,
            each.summary,
            answer=each.answer,
            many=each.many,
            status=each.status,
            again=each.again,
            body=each.body,
            passed_on=QUERIES.get((each.method, each.rule)),
            read=read,
            errors=(*each.errors, NotAvailable),
        )
        for each in FORWARDED
    ]


def _view(others: Mapping[str, httpx.AsyncClient], service: str) -> View:
    async def view(body: ForwardedRequest, **_path: Any) -> RouteResponse:
        back = await forward_request(others[service], service, body)
        return RouteResponse(back.content, back.status, back.content_type)

    return view
