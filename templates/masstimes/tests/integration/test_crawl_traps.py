"""Crawls of sites with traps and errors, and of dead sites, end and report how they ended."""

import json
from collections.abc import Iterator
from itertools import groupby

import pytest
from masstimes.pages import CRAWLED
from masstimes.small_web.check_delays import find_early_requests
from masstimes.small_web.traps import PLACE

from templates.masstimes.tests.integration.conftest import DELAYS, CrawlFolder, ServedWeb, run_web

pytestmark = [
    pytest.mark.xdist_group("small-web-traps"),
    pytest.mark.long(
        "waits for silent sites; limits, throttle and the detection of binaries have tests"
    ),
]

MAX_PAGES, MAX_BYTES = 40, 1_500_000


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWeb]:
    with run_web(tmp_path_factory.mktemp("web"), "--sites", "60", "--seed", "2") as web:
        yield web


@pytest.fixture(scope="module")
def by_trap(web: ServedWeb) -> dict[str, str]:
    """Map each trap, and each kind of dead site, to its parish."""
    sites = web.truth["sites"]
    trapped = {site["trap"]: name for name, site in sites.items() if site["trap"]}
    return trapped | {f"dead {site['dead']}": name for name, site in sites.items() if site["dead"]}


@pytest.fixture(scope="module")
def crawled(web: ServedWeb, by_trap: dict[str, str]) -> CrawlFolder:
    limits = ("--max-pages", str(MAX_PAGES), "--max-bytes", str(MAX_BYTES))
    return web.crawl("traps", *limits, parishes=sorted(by_trap.values()))


@pytest.mark.parametrize(
    ("trap", "ended", "errors"),
    [
        ("calendar", "max-pages", {}),
        ("session", "done", {}),
        ("permutations", "done", {}),
        ("circle", "done", {}),
        ("elsewhere", "done", {"elsewhere": 1}),
        ("huge", "done", {"too-large": 1}),
        ("endless", "done", {"too-large": 1}),
        ("bomb", "done", {"too-large": 1}),
        ("silent", "done", {"timeout": 1}),
        ("drip", "done", {"timeout": 1}),
        ("long-line", "done", {}),
        ("cookies", "done", {}),
        ("deeper", "done", {}),
        ("errors", "done", {"403": 1, "404": 1, "500": 1}),
        ("robots", "done", {}),
        ("pdf", "done", {}),
        ("picture", "done", {}),
        ("long-url", "done", {}),
        ("dead silent", "unreachable", {"timeout": 1}),
        ("dead errors", "robots", {}),  # This includes robots.txt, which then forbids everything.
        ("dead forbidden", "robots", {}),
    ],
)
def test_crawl_of_every_site_ends(
    crawled: CrawlFolder,
    web: ServedWeb,
    by_trap: dict[str, str],
    trap: str,
    ended: str,
    errors: dict[str, int],
) -> None:
    parish = by_trap[trap]
    summary = crawled.summary(parish)
    assert (summary["ended"], summary["errors"]) == (ended, errors)
    own = {page["url"] for page in crawled.pages(parish) if PLACE not in page["url"]}
    if ended == "done":  # Then all pages outside of the trap were found.
        assert len(own) == web.truth["sites"][parish]["pages"]


@pytest.mark.parametrize(
    ("trap", "pages"),
    [
        ("session", 5),
        ("permutations", 2),
        ("circle", 0),
        ("huge", 0),
        ("bomb", 0),
        ("long-line", 1),
        ("cookies", 2),
        ("robots", 2),
        ("pdf", 0),
        ("picture", 0),
    ],
)
def test_crawl_takes_no_more_pages_of_a_trap_than_exist(
    crawled: CrawlFolder, by_trap: dict[str, str], trap: str, pages: int
) -> None:
    pages_found = [page for page in crawled.pages(by_trap[trap]) if PLACE in page["url"]]
    assert len(pages_found) == pages
    assert all("sessid=" not in page["url"].lower() for page in pages_found)


def test_pages_forbidden_by_robots_txt_are_not_requested(
    web: ServedWeb, crawled: CrawlFolder, by_trap: dict[str, str]
) -> None:
    sites = web.truth["sites"]
    requested_paths = {(line["host"], line["path"]) for line in web.log("traps")}
    forbidden = sites[by_trap["robots"]]["domain"], f"{PLACE}robots/prywatne/1.html"
    assert forbidden not in requested_paths
    assert crawled.summary(by_trap["robots"])["robots"] == 1
    dead = sites[by_trap["dead forbidden"]]["domain"]
    assert {path for host, path in requested_paths if host == dead} == {"/robots.txt"}


def test_crawl_stops_reading_oversized_and_binary_files(
    web: ServedWeb, crawled: CrawlFolder, by_trap: dict[str, str]
) -> None:
    sizes = {line["path"]: line["bytes"] for line in web.log("traps") if PLACE in line["path"]}
    assert sizes[f"{PLACE}endless/index.html"] < MAX_BYTES * 10  # Buffers may hold some more.
    assert crawled.summary(by_trap["pdf"])["binary"] == 1
    assert crawled.summary(by_trap["picture"])["binary"] == 1


def test_crawl_keeps_the_required_delays_between_requests(
    web: ServedWeb, crawled: CrawlFolder
) -> None:
    log = sorted(web.log("traps"), key=lambda line: (line["host"], line["start"]))
    violations = [
        text
        for _, lines in groupby(log, key=lambda line: line["host"])
        for text in find_early_requests(list(lines), delays=DELAYS)
    ]
    assert violations == []
    assert len(log) > 300


def test_lines_of_a_crawl_have_all_fields(crawled: CrawlFolder, by_trap: dict[str, str]) -> None:
    pages = crawled.pages(by_trap["circle"])
    assert {tuple(page) for page in pages} == {CRAWLED}
    start, others = pages[0], pages[1:]
    assert start["url"] == start["start_url"]
    assert (start["previous_url"], start["link_text"]) == ("", "")
    assert {page["previous_url"] for page in others} <= {page["url"] for page in pages}
    assert any(page["link_text"] for page in others)


def test_text_of_crawled_pages_has_the_known_mass_times(
    web: ServedWeb, crawled: CrawlFolder
) -> None:
    from masstimes.text import page_text  # noqa: PLC0415 - for this test alone

    truth, compared = web.truth["pages"], 0
    for path in crawled.out.glob("*.jsonl"):
        for line in path.read_text().splitlines():
            page = json.loads(line)
            text = page_text(page["html"])
            for mass in truth.get(page["url"], ()):
                assert text[mass["start"] :].startswith(mass["hour"])
                compared += 1
    assert compared > 50
