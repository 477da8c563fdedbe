"""Short names of browsers from their User-Agent headers."""

import pytest

from wfms.operator.web.domain.browsers import browser_in_short

_CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36"
_SAFARI = "AppleWebKit/605.1 (KHTML, like Gecko) Version/17.0 Safari/604.1"


@pytest.mark.parametrize(
    ("agent", "short_name"),
    [
        ("Mozilla/5.0 (X11; Linux; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
        (f"Mozilla/5.0 (Linux; Android 10; K) {_CHROME}", "Chrome on Android"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64) {_CHROME} Edg/126.0", "Edge on Windows"),
        (f"Mozilla/5.0 (iPhone; CPU OS 17_0 like Mac OS X) {_SAFARI}", "Safari on iPhone"),
        (f"Mozilla/5.0 (Macintosh; Intel Mac OS X 14) {_SAFARI}", "Safari on Mac"),
        ("Firefox/128.0", "Firefox"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("<script>" + "x" * 90, "<script>" + "x" * 32),
        ("", "unknown"),
    ],
)
def test_user_agent_is_shortened_to_browser_and_system(agent: str, short_name: str) -> None:
    assert browser_in_short(agent) == short_name
