"""Polite requests to foreign servers."""

from collections.abc import Iterator

import pytest
from masstimes.polite import PoliteClient
from masstimes.request_policy import RequestPolicy, RequestRefused, ServerUnavailable

from templates.masstimes.tests.unit.answering import Response, Server, run_answering_server

CONTACT = "crawler@example.org"


@pytest.fixture
def server() -> Iterator[Server]:
    with run_answering_server() as server:
        yield server


def set_answers(server: Server, *responses: Response) -> None:
    """Set the answers of a server; it repeats the last answer."""
    coming = list(responses)
    server.answer = lambda _: coming.pop(0) if len(coming) > 1 else coming[0]


def measure_pauses(server: Server, policy: RequestPolicy, *, pages: int = 1) -> list[float]:
    """Return the pauses of the program in seconds."""
    waits: list[float] = []
    with PoliteClient("mt-test", policy, sleep=waits.append) as polite:
        for number in range(pages):
            polite.get(f"{server.url}/{number}")
    return waits


LATER: Response = (503, {}, "")
FINE: Response = (200, {}, "fine")


def test_pauses_between_repeats_double_up_to_the_longest_pause(server: Server) -> None:
    set_answers(server, LATER, LATER, LATER, LATER, FINE)
    assert measure_pauses(server, RequestPolicy(CONTACT, max_wait=10.0)) == [2, 4, 8, 10]
    assert server.requested_paths == ["/0"] * 5


def test_retry_after_sets_the_pause(server: Server) -> None:
    set_answers(server, (429, {"Retry-After": "7"}, ""), LATER, FINE)
    assert measure_pauses(server, RequestPolicy(CONTACT)) == [7, 4]
    set_answers(server, (503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, ""), FINE)
    assert measure_pauses(server, RequestPolicy(CONTACT)) == [2], "that time has passed"


def test_too_long_retry_after_ends_the_requests(server: Server) -> None:
    set_answers(server, (503, {"Retry-After": "301"}, ""))
    with pytest.raises(ServerUnavailable, match="wants 301 s to pass, longer than 300 s"):
        measure_pauses(server, RequestPolicy(CONTACT))
    assert len(server.requested_paths) == 1


def test_repeats_are_limited_for_each_request(server: Server) -> None:
    set_answers(server, LATER, LATER, FINE, LATER, LATER, FINE)
    policy = RequestPolicy(CONTACT, repeats=2)
    assert measure_pauses(server, policy, pages=2) == [2, 4, 1, 2, 4]
    set_answers(server, LATER)
    with pytest.raises(ServerUnavailable, match="answered 503, 3 times in a row"):
        measure_pauses(server, policy)


def test_unreachable_server_is_asked_again() -> None:
    waits: list[float] = []
    with (
        PoliteClient("mt-test", RequestPolicy(CONTACT, repeats=1), sleep=waits.append) as polite,
        pytest.raises(ServerUnavailable, match="no answer"),
    ):
        polite.get("http://127.0.0.1:1/")
    assert waits == [2]


def test_pauses_between_requests_can_be_scaled(server: Server) -> None:
    set_answers(server, FINE)
    assert measure_pauses(server, RequestPolicy(CONTACT, pause=3.0, delays=0.5), pages=3) == [
        1.5,
        1.5,
    ]


def test_user_agent_contains_the_contact(server: Server) -> None:
    set_answers(server, FINE)
    measure_pauses(server, RequestPolicy(CONTACT))
    assert server.agents == [f"mt-test (Sluice mass times; +{CONTACT})"]


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ((404, {}, ""), "answered 404"),
        ((302, {"Location": "http://elsewhere.example/"}, ""), "another host, elsewhere.example"),
        ((302, {"Location": "/again"}, ""), "redirects more than 5 times"),
        ((200, {}, "x" * 20_000_001), "more than 20000000 bytes"),
        ((200, {"Content-Encoding": "gzip"}, "none"), "cannot be unpacked"),
    ],
)
def test_permanent_error_is_not_repeated(server: Server, response: Response, message: str) -> None:
    set_answers(server, response)
    with pytest.raises(RequestRefused, match=message):
        measure_pauses(server, RequestPolicy(CONTACT))
    assert server.requested_paths.count("/0") == 1


def test_redirect_on_the_same_host_is_followed(server: Server) -> None:
    server.answer = lambda path: FINE if path == "/new" else (301, {"Location": "/new"}, "")
    with PoliteClient("mt-test", RequestPolicy(CONTACT), sleep=lambda _: None) as polite:
        assert polite.get(f"{server.url}/old").body == b"fine"


def test_proxy_of_the_environment_is_not_used_for_this_machine(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_answering_server() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        set_answers(server, FINE)
        measure_pauses(server, RequestPolicy(CONTACT))
        assert (server.requested_paths, proxy.requested_paths) == (["/0"], [])
