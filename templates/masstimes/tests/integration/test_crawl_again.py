"""A second crawl gets only what has changed, and a killed crawl is resumed."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from templates.masstimes.tests.integration.conftest import PROGRAMS, CrawlFolder, ServedWeb, run_web
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("small-web-again")

SITES = 5


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWeb]:
    options = ("--sites", str(SITES), "--seed", "3", "--no-traps")
    with run_web(tmp_path_factory.mktemp("web"), *options) as web:
        yield web


@pytest.fixture(scope="module")
def first(web: ServedWeb) -> CrawlFolder:
    """Return a first crawl, which knows no pages."""
    return web.crawl("first", "--known-out", str(web.folder / "known"))


def test_second_crawl_downloads_only_changed_pages(web: ServedWeb, first: CrawlFolder) -> None:
    known_pages = str(web.folder / "known")
    same = web.crawl("same", "--known", known_pages)
    assert same.urls() == []
    assert same.total("unchanged") == first.total("pages") == len(first.urls())
    assert any(line["conditional"] and line["status"] == 304 for line in web.log("same"))

    program = [str(PROGRAMS / "mt-web-change"), "--folder", str(web.folder), "--sites", "2"]
    crawl = subprocess.run(program, check=True, capture_output=True, text=True, timeout=60)
    changed = crawl.stdout.split()
    again = web.crawl("again", "--known", known_pages, "--known-out", str(web.folder / "known-2"))
    truth = web.truth["sites"]
    assert again.urls() == sorted(url for name in changed for url in truth[name]["where"])
    assert len(changed) == 2

    last = web.crawl("last", "--known", str(web.folder / "known-2"))
    assert last.urls() == []


def test_killed_crawl_is_resumed_without_repeated_requests(
    web: ServedWeb, first: CrawlFolder
) -> None:
    state = web.folder / "state"
    options = ("--state", str(state), "--state-every", "0.05", "--at-once", "4")
    with subprocess.Popen(web.command("killed", *options)) as process:
        wait_until(
            lambda: len(list_answered_addresses(state)) > 12,
            what="some stored answers",
            seconds=120,
        )
        process.send_signal(signal.SIGKILL)
    answered_urls = list_answered_addresses(state)
    before = {(line["host"], line["path"]) for line in web.log("killed")}

    resumed = web.crawl("resumed", *options)
    twice = [
        (line["host"], line["path"])
        for line in web.log("resumed")
        if (line["host"], line["path"]) in before and line["path"] != "/robots.txt"
    ]
    assert not {f"http://{host}{path}" for host, path in twice} & answered_urls
    assert len(twice) <= len(before) - len(answered_urls)
    assert resumed.urls() == first.urls()
    assert resumed.total("pages") == first.total("pages")

    finished = len(web.log("resumed"))
    web.crawl(
        "resumed", *options
    )  # All sites are done: the files are written again without any request.
    assert len(web.log("resumed")) == finished
    assert resumed.urls() == first.urls()


def list_answered_addresses(state: Path) -> set[str]:
    """Return the addresses whose answers are stored, without ports."""
    urls = set()
    for path in state.glob("*.journal"):
        for line in path.read_bytes().splitlines(keepends=True)[1:]:
            if line.endswith(b"\n"):
                entry = json.loads(line.partition(b"\t")[0])
                scheme, _, rest = entry.get("url", "").partition("://")
                host, _, path_ = rest.partition("/")
                urls.add(f"{scheme}://{host.partition(':')[0]}/{path_}")
    return urls


@pytest.mark.long("the test of a killed crawl is stricter")
def test_terminated_crawl_is_resumed(web: ServedWeb, first: CrawlFolder) -> None:
    state = web.folder / "state-of-ended"
    options = ("--state", str(state), "--state-every", "0.05")
    with subprocess.Popen(web.command("ended", *options), stderr=subprocess.PIPE) as process:
        wait_until(
            lambda: len(list_answered_addresses(state)) > 3, what="some stored answers", seconds=120
        )
        process.terminate()
        assert process.stderr is not None
        stderr = process.stderr.read().decode()
    assert (process.returncode, stderr) == (
        75,
        "mt-crawl: ended by a signal; with --state the next start continues it\n",
    )
    assert web.crawl("ended", *options).urls() == first.urls()
