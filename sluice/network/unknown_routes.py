"""Responses of a system that does not know a route, because it is older than this command."""

from http import HTTPStatus

_NO_TYPE = "about:blank"


def is_unknown_route(status: int, problem_type: str) -> bool:
    """Return whether a problem says that a service has no such route.

    A route that does not find its resource answers with a different problem type.
    """
    return status == HTTPStatus.METHOD_NOT_ALLOWED or (
        status == HTTPStatus.NOT_FOUND and problem_type == _NO_TYPE
    )


def too_old_text(url: str, method: str, path: str) -> str:
    """Return a message that the system is too old for a request, with the release that it needs."""
    from importlib.metadata import version  # noqa: PLC0415 - takes its time

    return (
        f"the system at {url} is too old for this command: it does not know {method} {path}."
        f" Upgrade it to release {version('sluice')}, or use the command of that release"
    )
