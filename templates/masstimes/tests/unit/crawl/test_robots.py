"""Limits of reading robots.txt."""

import pytest
from masstimes.crawl.limits import Limits
from masstimes.crawl.robots import MAX_ROBOTS_BYTES, FirstRules
from masstimes.crawl.robots_requests import RobotsRequests
from masstimes.crawl.running import make_settings
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spiders import Spider
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

AGENT = "sluice"


def make_rules(body: bytes) -> FirstRules:
    return FirstRules.from_crawler(get_crawler(Spider), body)


def forbids(body: bytes, path: str) -> bool:
    return not make_rules(body).allowed(f"http://parafia.pl{path}", AGENT)


def test_rules_count_up_to_the_size_limit_and_incomplete_rules_do_not() -> None:
    start, last = b"User-agent: *\n", b"Disallow: /last\n"
    filling = b"#" * (MAX_ROBOTS_BYTES - len(start) - len(last) - 1) + b"\n"
    whole = start + filling + last
    assert len(whole) == MAX_ROBOTS_BYTES
    assert forbids(whole, "/last")
    assert forbids(whole + b"Disallow: /more\n", "/last")
    assert not forbids(whole + b"Disallow: /more\n", "/more")
    assert not forbids(b"#" + whole, "/last")  # an incomplete rule could mean another path


@pytest.mark.parametrize(
    "start",
    [b"\xef\xbb\xbf", "# Zakaz wjazdu, bł\n".encode("iso-8859-2"), b"\xff\x00\n", b"\x00\n"],
    ids=["byte order mark", "Latin-2", "no text", "NUL"],
)
def test_rules_are_read_despite_invalid_bytes(start: bytes) -> None:
    assert forbids(start + b"User-agent: *\nDisallow: /private\n", "/private/x")


@pytest.mark.parametrize("delay", [b"nan", b"1e999", b"-5", b"inf", b"x", b""])
def test_invalid_crawl_delay_does_not_affect_the_rules(delay: bytes) -> None:
    body = b"User-agent: *\nCrawl-delay: " + delay + b"\nDisallow: /private\n"
    assert forbids(body, "/private")
    assert not forbids(body, "/msze")


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [("10", 10.0), ("0.5", 0.5), ("-5", 0.0), ("nan", 0.0), ("x", 0.0), ("", 0.0)],
)
def test_crawl_delay_is_read_if_it_is_a_number(delay: str, seconds: float) -> None:
    assert (
        make_rules(f"User-agent: *\nCrawl-delay: {delay}\n".encode()).crawl_delay(AGENT) == seconds
    )


@pytest.mark.parametrize(
    ("target", "is_followed"),
    [
        ("http://www.parafia.pl/robots.txt", True),
        ("https://diecezja.example/x", True),
        ("http://127.0.0.1:8080/admin", False),
        ("http://127.1/admin", False),
        ("http://10.0.0.1/", False),
        ("http://169.254.169.254/latest", False),
        ("http://[::1]/", False),
        ("http://[::ffff:10.0.0.1]/", False),
        ("http://localhost/", False),
        ("http://intranet/", False),
    ],
)
def test_robots_txt_redirect_into_the_local_network_is_refused(
    target: str, is_followed: bool
) -> None:
    redirects = RobotsRequests(get_crawler(Spider))
    request = Request("http://parafia.pl/robots.txt", meta={"dont_obey_robotstxt": True})
    response = Response(request.url, 302, {"Location": target})
    if is_followed:
        led = redirects.process_response(request, response)
        assert isinstance(led, Request)
        assert led.url == target
    else:
        with pytest.raises(IgnoreRequest, match="into the network of this machine"):
            redirects.process_response(request, response)


def test_crawler_uses_the_limited_robots_parser() -> None:
    chosen = make_settings(Limits(), AGENT, delays=1.0)["ROBOTSTXT_PARSER"]
    assert load_object(chosen) is FirstRules
