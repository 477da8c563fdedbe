"""CSRF protection: forms are taken from pages of the same browser session only, for each carries a
signed token that belongs to its cookie."""

import secrets

from flask import current_app, request, session
from itsdangerous import BadSignature, URLSafeTimedSerializer

from wfms.operator.domain.errors import ForeignRequest

FIELD = "csrf_token"

#: Seconds for which a page's form may be sent.
_LIFE = 24 * 3600


def token() -> str:
    """The token for the forms of a browser session; begins one where there is none."""
    if "id" not in session:
        session["id"] = secrets.token_urlsafe(24)
    return _signer().dumps(session["id"])


def check_token() -> None:
    """Raises ``ForeignRequest`` unless the form carries the token of its browser session."""
    try:
        owner = _signer().loads(request.form.get(FIELD, ""), max_age=_LIFE)
    except BadSignature as error:
        raise ForeignRequest(
            "this form was opened too long ago or is not ours: go back, reload the page and send it"
            " again"
        ) from error
    if not secrets.compare_digest(str(owner), str(session.get("id", ""))):
        raise ForeignRequest(
            "this form belongs to another session: go back, reload the page and send it again"
        )


def _signer() -> URLSafeTimedSerializer:
    key = current_app.config["SECRET_KEY"]
    return URLSafeTimedSerializer(key, salt="form")
