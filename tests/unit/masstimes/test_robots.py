"""Of rules for robots as many are read as the standard asks for, and no more."""

import pytest
from masstimes.crawl.limits import Limits
from masstimes.crawl.robots import MOST, FirstRules
from masstimes.crawl.running import settings
from scrapy.spiders import Spider
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

AGENT = "sluice"


def rules(body: bytes) -> FirstRules:
    return FirstRules.from_crawler(get_crawler(Spider), body)


def forbids(body: bytes, path: str) -> bool:
    return not rules(body).allowed(f"http://parafia.pl{path}", AGENT)


def test_rules_count_up_to_the_bound_and_none_that_is_cut() -> None:
    start, last = b"User-agent: *\n", b"Disallow: /last\n"
    filling = b"#" * (MOST - len(start) - len(last) - 1) + b"\n"
    whole = start + filling + last
    assert len(whole) == MOST
    assert forbids(whole, "/last")
    assert forbids(whole + b"Disallow: /more\n", "/last")
    assert not forbids(whole + b"Disallow: /more\n", "/more")
    assert not forbids(b"#" + whole, "/last")  # without its end it could be another


@pytest.mark.parametrize(
    "start",
    [b"\xef\xbb\xbf", "# Zakaz wjazdu, bł\n".encode("iso-8859-2"), b"\xff\x00\n", b"\x00\n"],
    ids=["byte order mark", "Latin-2", "no text", "NUL"],
)
def test_rules_count_whatever_bytes_are_beside_them(start: bytes) -> None:
    assert forbids(start + b"User-agent: *\nDisallow: /private\n", "/private/x")


@pytest.mark.parametrize("delay", [b"nan", b"1e999", b"-5", b"inf", b"x", b""])
def test_crawl_delay_that_is_no_number_leaves_the_rules_as_they_are(delay: bytes) -> None:
    body = b"User-agent: *\nCrawl-delay: " + delay + b"\nDisallow: /private\n"
    assert forbids(body, "/private")
    assert not forbids(body, "/msze")


def test_the_crawl_reads_them_so() -> None:
    chosen = settings(Limits(), AGENT, delays=1.0)["ROBOTSTXT_PARSER"]
    assert load_object(chosen) is FirstRules
