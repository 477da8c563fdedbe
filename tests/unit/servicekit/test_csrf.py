"""Requests of other sites and forms of other sessions are refused with the same error."""

import pytest
from itsdangerous.timed import TimestampSigner
from starlette.datastructures import Headers

from sluice.servicekit.web.csrf import CrossSiteRequest, FormTokens, require_same_site

OWN = {"host": "sluice.test"}


def is_accepted(method: str, headers: dict[str, str]) -> bool:
    try:
        require_same_site(method, Headers(OWN | headers))
    except CrossSiteRequest:
        return False
    return True


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://other.test"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"origin": "http://sluice.test", "sec-fetch-site": "same-site"},
    ],
)
def test_change_that_a_page_of_another_site_requests_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(CrossSiteRequest, match="pages of other sites"):
        require_same_site("POST", Headers(OWN | headers))
    assert is_accepted("GET", headers)


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "https://Sluice.test"}, {"sec-fetch-site": "same-origin"}],
)
def test_change_that_a_program_or_an_own_page_requests_is_accepted(
    headers: dict[str, str],
) -> None:
    assert is_accepted("POST", headers)


def test_form_token_belongs_to_a_session_and_its_person() -> None:
    tokens = FormTokens("key")
    token = tokens.create("session", "anna")
    tokens.require(token, "session", "anna")
    for session, person in (("other", "anna"), ("session", "boris"), ("session", "")):
        with pytest.raises(CrossSiteRequest, match="belongs to another session"):
            tokens.require(token, session, person)


def test_missing_or_foreign_or_old_form_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = FormTokens("key")
    token = tokens.create("session", "anna")
    now = TimestampSigner.get_timestamp(TimestampSigner("any"))
    for invalid_token in ("", token[:-2], FormTokens("other").create("session", "anna")):
        with pytest.raises(CrossSiteRequest, match="has expired or is not valid"):
            tokens.require(invalid_token, "session", "anna")
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: now + 24 * 3600 + 2)
    with pytest.raises(CrossSiteRequest, match="has expired or is not valid"):
        tokens.require(token, "session", "anna")
