"""Addresses of pages: normal form, site, and traps."""

import pytest
from masstimes.crawl.addresses import (
    address_key,
    get_domain,
    is_sane,
    is_within,
    normalise_address,
    without_sessions,
)
from masstimes.crawl.limits import Limits

BASE = "http://www.p.pl/a/b.html"


@pytest.mark.parametrize(
    ("link", "there"),
    [
        ("c.html#top", "http://www.p.pl/a/c.html"),
        ("/", "http://www.p.pl/"),
        ("//P.PL:80", "http://p.pl/"),
        ("https://p.pl:443/x", "https://p.pl/x"),
        ("http://p.pl:8080", "http://p.pl:8080/"),
        ("?id=3&PHPSESSID=0af", "http://www.p.pl/a/b.html?id=3"),
        ("x;jsessionid=AB12?s=1", "http://www.p.pl/a/x?s=1"),
        ("?sid=1", "http://www.p.pl/a/b.html"),
        ("?side=1", "http://www.p.pl/a/b.html?side=1"),
        (" msze święte.html ", "http://www.p.pl/a/msze%20%C5%9Bwi%C4%99te.html"),
        ("a%20b", "http://www.p.pl/a/a%20b"),
        ("mailto:a@p.pl", None),
        ("javascript:void(0)", None),
        ("http://[", None),
        ("http://p.pl:99999/", None),
    ],
)
def test_link_is_resolved_to_a_normal_address(link: str, there: str | None) -> None:
    assert normalise_address(link, BASE) == there


def test_order_of_query_parameters_does_not_matter() -> None:
    assert address_key("http://p.pl/x?b=1&a=2") == address_key("http://p.pl/x?a=2&b=1")
    assert (
        address_key("http://p.pl/x?b=1")
        != address_key("http://p.pl/x?b=2")
        != address_key("http://p.pl/x")
    )


@pytest.mark.parametrize(
    ("url", "within"),
    [
        ("http://p.pl/", True),
        ("http://www.p.pl/", True),
        ("http://m.p.pl/", True),
        ("http://ap.pl/", False),
        ("http://p.pl.evil.pl/", False),
    ],
)
def test_site_includes_its_subdomains(url: str, within: bool) -> None:
    assert is_within(url, get_domain("http://www.p.pl/x")) is within


@pytest.mark.parametrize(
    ("url", "sane"),
    [
        ("http://p.pl/a/b/c.html", True),
        ("http://p.pl/a/a/a/", True),
        ("http://p.pl/a/a/a/a/", False),
        ("http://p.pl/plan.PDF", False),
        ("http://p.pl/plan.php?x=a.pdf", True),
        ("http://p.pl/" + "x" * 1000, False),
    ],
)
def test_addresses_of_traps_and_files_are_skipped(url: str, sane: bool) -> None:
    assert is_sane(url, Limits()) is sane


def test_session_identifiers_are_removed_from_pages() -> None:
    pages = [f"<a href='x?PHPSESSID={number:032x}&a=1'>" for number in (1, 2)]
    assert without_sessions(pages[0]) == without_sessions(pages[1]) != ""
