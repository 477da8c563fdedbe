"""CSRF protection: forms are taken from pages of the same browser session only, for each carries a
signed token that belongs to its cookie, and to who is signed in."""

import secrets

from flask import current_app, request, session
from itsdangerous import BadSignature, URLSafeTimedSerializer

from wfms.operator.api.access import person_who_asks
from wfms.operator.domain.errors import ForeignRequest

FIELD = "csrf_token"

#: Seconds for which a page's form may be sent.
_LIFE = 24 * 3600


def token() -> str:
    """The token for the forms of a browser session; begins one where there is none."""
    if "id" not in session:
        session["id"] = secrets.token_urlsafe(24)
    return _signer().dumps([session["id"], _person()])


def check_token() -> None:
    """Raises ``ForeignRequest`` unless the form carries the token of its browser session."""
    try:
        owner, person = _signer().loads(request.form.get(FIELD, ""), max_age=_LIFE)
    except (BadSignature, ValueError) as error:
        raise ForeignRequest(
            "this form was opened too long ago or is not ours: go back, reload the page and send it"
            " again"
        ) from error
    same = secrets.compare_digest(str(owner), str(session.get("id", "")))
    if not same or person != _person():
        raise ForeignRequest(
            "this form belongs to another session: go back, reload the page and send it again"
        )


def _person() -> str:
    person = person_who_asks()
    return "" if person is None else person.name


def _signer() -> URLSafeTimedSerializer:
    key = current_app.config["SECRET_KEY"]
    return URLSafeTimedSerializer(key, salt="form")
