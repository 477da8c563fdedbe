"""Tokens of the forms in pages, for the browser session of the current request."""

import secrets

from flask import current_app, request, session

from sluice.servicekit.web.csrf import FormTokens
from wfms.operator.http.access import find_requesting_person

FIELD = "csrf_token"


def create_form_token() -> str:
    """Return a token for the forms of the browser session, and begin a session if needed."""
    if "id" not in session:
        session["id"] = secrets.token_urlsafe(24)
    return _form_tokens().create(session["id"], _find_person_name())


def check_form_token() -> None:
    """Check that the form has the token of its browser session.

    Raises:
        CrossSiteRequest: The token is missing, too old, or of another session.
    """
    _form_tokens().require(
        request.form.get(FIELD, ""), str(session.get("id", "")), _find_person_name()
    )


def _find_person_name() -> str:
    person = find_requesting_person()
    return "" if person is None else person.name


def _form_tokens() -> FormTokens:
    return FormTokens(current_app.config["SECRET_KEY"])
