"""Protection against cross-site request forgery (CSRF).

Programs and pages of this system may change data. Pages of other sites in a person's browser may
not. There are two checks, which raise the same error:

- The server of each service checks the headers of every request (``require_same_site``).
- The operator service also checks the tokens of its forms (``FormTokens``). The tokens also detect
  the forms of ended sessions and of other people, and browsers that send neither header.
"""

import secrets
from typing import Protocol
from urllib.parse import urlsplit

from itsdangerous import BadSignature, URLSafeTimedSerializer

from sluice.contracts.common.problems import ServiceError

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
#: Seconds for which the form of a page is valid.
_FORM_LIFETIME = 24 * 3600


class CrossSiteRequest(ServiceError):
    """A request for a change that a page of another site or an outdated page sent."""

    status, slug, title = 403, "foreign-request", "Cross-site request refused"


class Headers(Protocol):
    """The headers of a request, by name in any case."""

    def get(self, key: str, /) -> str | None:
        """Return the value of a header, or None."""


def require_same_site(method: str, headers: Headers) -> None:
    """Check that no page of another site sent a request that may change something.

    Browsers name the origin of the page in every unsafe request (Fetch standard, ``Origin`` and
    ``Sec-Fetch-Site``). Programs send neither header.

    Raises:
        CrossSiteRequest: A page of another site sent the request.
    """
    if method not in _SAFE and (
        _has_foreign_origin(headers)
        or headers.get("sec-fetch-site") not in {None, "same-origin", "none"}
    ):
        raise CrossSiteRequest("requests from pages of other sites are refused")


def _has_foreign_origin(headers: Headers) -> bool:
    origin = headers.get("origin")
    host = (headers.get("host") or "").lower()
    return origin is not None and urlsplit(origin).netloc.lower() != host


class FormTokens:
    """Signed tokens of forms. A token belongs to a browser session and to its person."""

    def __init__(self, key: str) -> None:
        self._signer = URLSafeTimedSerializer(key, salt="form")

    def create(self, session: str, person: str) -> str:
        """Return a token for the forms of a session.

        Args:
            session: The id of the session.
            person: The name of the person who is signed in, or an empty string.
        """
        return self._signer.dumps([session, person])

    def require(self, token: str, session: str, person: str) -> None:
        """Check that a token belongs to a session and its person.

        Raises:
            CrossSiteRequest: The token is missing, too old, or of another session.
        """
        try:
            token_session, token_person = self._signer.loads(token, max_age=_FORM_LIFETIME)
        except (BadSignature, ValueError) as error:
            raise CrossSiteRequest(
                "this form has expired or is not valid: go back, reload the page and send it again"
            ) from error
        same = secrets.compare_digest(str(token_session), session)
        if not same or token_person != person:
            raise CrossSiteRequest(
                "this form belongs to another session: go back, reload the page and send it again"
            )
