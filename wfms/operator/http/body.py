"""Bounded reading of request bodies."""

from flask import current_app, request

from wfms.operator.errors import RequestTooLarge


def read_body(limit: int | None = None) -> bytes:
    """Return the whole body of the request.

    Werkzeug's own limit silently truncates a body that is sent without a length. This function
    reads one byte more to notice that.

    Args:
        limit: Maximum bytes; by default the limit of the application.

    Raises:
        RequestTooLarge: The body is longer.
    """
    max_bytes = current_app.config["MAX_CONTENT_LENGTH"] if limit is None else limit
    if request.content_length is not None and request.content_length > max_bytes:
        raise RequestTooLarge(max_bytes)
    data: bytes = request.environ["wsgi.input"].read(max_bytes + 1)
    if len(data) > max_bytes:
        raise RequestTooLarge(max_bytes)
    return data
