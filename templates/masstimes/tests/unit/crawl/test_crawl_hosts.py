"""Parishes that share a host: groups, and the addresses that each owns."""

import json
from pathlib import Path

import pytest
from masstimes.crawl.hosts import group_by_host
from masstimes.crawl.parishes import ParishSite, read_parishes


def read_site_parishes(folder: Path, *sites: str) -> list[ParishSite]:
    listed = [{"id": f"p{number}", "name": "A", "site": site} for number, site in enumerate(sites)]
    (folder / "parishes.json").write_text(json.dumps(listed))
    return read_parishes([folder / "parishes.json"])


@pytest.mark.parametrize(
    ("site", "other", "owned", "not_owned"),
    [
        ("/~a/", "/~b/", ["/~a", "/~a/x", "/~a/x/y?z"], ["/", "/~b/", "/~ab/"]),
        ("/~a/1", "/~b/2", ["/~a/", "/~a/2"], ["/", "/~b/2"]),
        ("/~a", "/~b/", ["/~a", "/~a/x"], ["/", "/~b/"]),
        ("/parishes/a", "/parishes/b", ["/parishes/a/x"], ["/parishes/", "/parishes/b"]),
        ("/a.html", "/b.html", ["/a.html"], ["/b.html", "/"]),
        ("/index.html", "/b/", ["/", "/x"], ["/b", "/b/x"]),
        ("/", "/b/", ["/", "/x"], ["/b/x"]),
        ("/", "/", ["/", "/b/"], []),
        ("/~a/", "/~a/", ["/~a/x"], ["/~b/"]),
        ("/p?id=1", "/p?id=2", ["/p?id=1", "/p?x=y&id=1"], ["/p", "/p?id=2", "/p?id=11"]),
        ("/p.php?id=1", "/p.php?id=2", ["/p.php?id=1", "/x?id=1"], ["/p.php", "/x?id=2", "/x"]),
        ("/p?a=b&id=1", "/p?a=b&id=2", ["/p?a=b&id=1", "/p?a=c&id=1"], ["/p?a=b", "/p?a=b&id=2"]),
        ("/p?id=1", "/p?id=1&x=y", ["/p", "/p?id=1&x=z"], ["/p?x=y&id=1"]),
        ("/p", "/p?id=2", ["/p", "/p?id=1", "/p/x"], ["/p?id=2", "/p/x?id=2"]),
        ("/p?id=2", "/p", ["/p?id=2", "/p/x?id=2"], ["/p", "/p?id=1"]),
        ("/p?id=1", "/p?id=1", ["/p?id=1", "/p"], ["/x"]),
        ("/p?id=1", "/q?id=1", ["/p?id=1", "/p"], ["/q?id=1"]),
    ],
)
def test_parish_that_shares_its_host_stays_below_its_own_path_and_query(
    tmp_path: Path, site: str, other: str, owned: list[str], not_owned: list[str]
) -> None:
    first, _ = read_site_parishes(tmp_path, f"http://p.pl{site}", f"https://www.p.pl{other}")
    assert [path for path in owned if not first.owns(f"https://www.p.pl{path}")] == []
    assert [path for path in not_owned if first.owns(f"https://www.p.pl{path}")] == []


def test_parish_alone_on_its_host_owns_the_whole_domain(tmp_path: Path) -> None:
    first, _ = read_site_parishes(tmp_path, "http://p.pl/~a/", "http://q.pl/~a/")
    assert first.owns("http://m.p.pl/~b/")


def test_sites_on_a_domain_and_its_subdomains_are_one_group(tmp_path: Path) -> None:
    sites = (
        "http://a.p.pl/",
        "http://q.pl/",
        "https://www.p.pl:8443/x",
        "http://b.a.p.pl/",
        "",
        "",
    )
    groups = group_by_host(read_site_parishes(tmp_path, *sites))
    assert [[each.id for each in group] for group in groups] == [
        ["p0", "p2", "p3"],
        ["p1"],
        ["p4"],
        ["p5"],
    ]
