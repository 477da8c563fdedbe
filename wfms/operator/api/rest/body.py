"""Reads the bodies of requests, never more of them than allowed."""

from flask import current_app, request

from wfms.operator.domain.errors import TooLarge


def read_body(limit: int | None = None) -> bytes:
    """The whole body. ``limit``: bytes, by default the application's. Raises ``TooLarge``.

    Werkzeug's own limit silently cuts a body that was sent without its length; this reads one byte
    more to know.
    """
    most = current_app.config["MAX_CONTENT_LENGTH"] if limit is None else limit
    if request.content_length is not None and request.content_length > most:
        raise TooLarge(most)
    data: bytes = request.environ["wsgi.input"].read(most + 1)
    if len(data) > most:
        raise TooLarge(most)
    return data
