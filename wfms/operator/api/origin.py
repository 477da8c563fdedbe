"""Who may change something: programs, and our own pages. A page from elsewhere, open in an operator's browser, may not."""

from urllib.parse import urlsplit

from flask import request

from wfms.operator.domain.errors import ForeignRequest

_SAFE = {"GET", "HEAD", "OPTIONS"}


def refuse_foreign_requests() -> None:
    """Browsers name the sending page's origin with every request that is not safe; programs name none.
    Raises ``ForeignRequest``."""
    if request.method in _SAFE:
        return
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        raise ForeignRequest("a page of another site may not change anything here")
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        raise ForeignRequest("a page of another site may not change anything here")
