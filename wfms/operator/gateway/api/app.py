"""The ASGI application: the health routes of every service, and Flask behind a2wsgi."""

from collections.abc import Callable, Iterable
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, cast

from a2wsgi import WSGIMiddleware
from flask import Flask, Response, request
from starlette.types import ASGIApp

from sluice.servicekit.access.policy import Other, allow
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from wfms.operator.chains.usecases.find_owner import find_owner
from wfms.operator.context import OperatorContext
from wfms.operator.gateway.api.downloads import images_router
from wfms.operator.gateway.api.downloads import router as downloads_router
from wfms.operator.gateway.api.openapi import document
from wfms.operator.gateway.api.routes import all_routes
from wfms.operator.http.access import check_access, views_and_policies
from wfms.operator.http.bridge import Bridge
from wfms.operator.http.errors import answer_errors
from wfms.operator.http.fair_threads import FairThreads
from wfms.operator.http.route import blueprint
from wfms.operator.settings import OperatorSettings, secret_key
from wfms.operator.web.framework.navigation import Navigation
from wfms.operator.web.framework.rendering import error_page, prepare_rendering
from wfms.operator.web.pages.blueprint import pages_blueprint

#: Limit of a request body in bytes, unless a route allows more.
MAX_REQUEST_BYTES = 2 * 1024 * 1024

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none';"
        " object-src 'none'; img-src 'self' data:"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def create_application(
    context: OperatorContext,
    settings: OperatorSettings,
    *,
    bridge: Bridge,
    health: Health,
    metrics: ServiceMetrics,
) -> ASGIApp:
    """Return the application of the operator service.

    ``bridge`` must be started before the first request.
    """
    routes = all_routes(context, largest_body=settings.largest_body)
    navigation = Navigation()
    flask = create_flask(settings, navigation)
    flask.register_blueprint(blueprint(routes, bridge))
    flask.register_blueprint(pages_blueprint(context, bridge, navigation))
    files = flask.view_functions["pages.static"]
    flask.view_functions["pages.static"] = allow(Other.EVERYBODY)(partial(files))
    check_access(flask, lambda rule, path: bridge.run(find_owner(context, rule, path)))
    app = create_app(
        "wfms.operator",
        [downloads_router, images_router],
        health=health,
        metrics=metrics,
        audit=context.database,
        provide=[context],
    )
    default_document = app.openapi
    app.openapi = cache(lambda: document(routes, other_document=default_document()))  # type: ignore[method-assign] # FastAPI's own way to another document
    wsgi = WSGIMiddleware(_whole_bodies(flask.wsgi_app), workers=settings.threads)
    app.state.policies |= views_and_policies(flask)
    # a2wsgi has its own types for the ASGI protocol
    app.mount("/", FairThreads(cast(ASGIApp, wsgi), threads=settings.threads))
    return app


def create_flask(settings: OperatorSettings, navigation: Navigation) -> Flask:
    """Return a Flask application with sessions, limits, errors and headers, but without routes."""
    flask = Flask("wfms.operator", static_folder=None)
    flask.config.update(
        SECRET_KEY=secret_key(settings),
        PROVIDER=settings.oidc.label if settings.oidc.issuer else "",
        ACCOUNTS=settings.accounts,
        PUBLIC_URL=settings.public_url,
        MAX_CONTENT_LENGTH=MAX_REQUEST_BYTES,
        MAX_FORM_MEMORY_SIZE=MAX_REQUEST_BYTES,
        SESSION_COOKIE_NAME="sluice_session",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.secure_cookies,
    )
    prepare_rendering(flask, navigation)
    answer_errors(flask, error_page)
    flask.after_request(_finish)
    return flask


def _finish(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if request.endpoint != "pages.static":
        response.headers.setdefault("Cache-Control", "no-store")
    scope = request.environ.get("asgi.scope")
    if scope is not None and request.url_rule is not None:
        # The metrics of servicekit read the route from the scope.
        scope["route"] = SimpleNamespace(path=request.url_rule.rule)
    return response


def _whole_bodies(wsgi: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Mark the input of each request as terminated.

    The input of a2wsgi ends where the body ends. Flask may therefore read bodies that are sent in
    chunks, without a length.
    """

    def serve(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["wsgi.input_terminated"] = True
        return wsgi(environ, start_response)

    return serve
