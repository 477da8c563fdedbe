"""CSRF protection of forms.

Each form has a signed token. The token belongs to the cookie of the browser session and to the
person who is signed in.
"""

import secrets

from flask import current_app, request, session
from itsdangerous import BadSignature, URLSafeTimedSerializer

from wfms.operator.errors import CrossSiteRequest
from wfms.operator.http.access import find_requesting_person

FIELD = "csrf_token"

#: Seconds for which the form of a page is valid.
_LIFE = 24 * 3600


def token() -> str:
    """Return a token for the forms of the browser session, and begin a session if needed."""
    if "id" not in session:
        session["id"] = secrets.token_urlsafe(24)
    return _create_signer().dumps([session["id"], _find_person_name()])


def check_token() -> None:
    """Check that the form has the token of its browser session.

    Raises:
        CrossSiteRequest: The token is missing, too old, or of another session.
    """
    try:
        owner, person = _create_signer().loads(request.form.get(FIELD, ""), max_age=_LIFE)
    except (BadSignature, ValueError) as error:
        raise CrossSiteRequest(
            "this form has expired or is not valid: go back, reload the page and send it again"
        ) from error
    same = secrets.compare_digest(str(owner), str(session.get("id", "")))
    if not same or person != _find_person_name():
        raise CrossSiteRequest(
            "this form belongs to another session: go back, reload the page and send it again"
        )


def _find_person_name() -> str:
    person = find_requesting_person()
    return "" if person is None else person.name


def _create_signer() -> URLSafeTimedSerializer:
    key = current_app.config["SECRET_KEY"]
    return URLSafeTimedSerializer(key, salt="form")
