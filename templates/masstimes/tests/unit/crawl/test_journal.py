"""The journal of a site: any beginning of the file is valid."""

import json
from pathlib import Path

import pytest
from masstimes.crawl.journal import Entry, Journal
from masstimes.crawl.known_pages import (
    KnownPage,
    find_known_files,
    read_known_pages,
    write_known_pages,
)
from masstimes.crawl.visits import Answer, Outcome

from sluice.packs.programs import BadData, MissingInput

ABOUT = {"id": "p", "site": "http://p.pl/"}
PAGE = Entry(
    "http://p.pl/",
    Answer(Outcome.PAGE, bytes=9, links=(("http://p.pl/ą", "Msze\tŚw."),), sha256="ab", etag='"1"'),
    json.dumps({"html": "a\tb"}).encode(),
)
FAILED = Entry("http://p.pl/x", Answer(Outcome.ERROR, "404"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    journal = Journal(tmp_path / "p.journal", ABOUT)
    for entry in (PAGE, FAILED):
        journal.add(entry)
    journal.flush()
    return tmp_path / "p.journal"


def test_journal_returns_its_entries(path: Path) -> None:
    journal = Journal(path, ABOUT)
    assert list(journal.entries()) == [PAGE, FAILED]
    assert journal.get_summary() is None
    journal.end({"pages": 1})
    assert Journal(path, ABOUT).get_summary() == {"pages": 1}
    assert list(Journal(path, ABOUT).entries()) == [PAGE, FAILED]


def test_journal_is_valid_after_truncation_anywhere(path: Path) -> None:
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        journal = Journal(path, ABOUT)
        entries = list(journal.entries())
        assert entries == [PAGE, FAILED][: max(whole[:size].count(b"\n") - 1, 0)]
        journal.add(FAILED)
        assert list(Journal(path, ABOUT).entries()) == entries  # not flushed yet
        journal.flush()
        assert list(Journal(path, ABOUT).entries()) == [*entries, FAILED]


def test_journal_of_another_parish_is_started_again(path: Path) -> None:
    assert list(Journal(path, {**ABOUT, "site": "http://q.pl/"}).entries()) == []


def test_known_pages_are_written_for_the_next_run(tmp_path: Path) -> None:
    before = {
        "http://p.pl/x": KnownPage("old"),
        "http://p.pl/y": KnownPage("old"),
        "http://p.pl/gone": KnownPage("old"),
    }
    down = Entry("http://p.pl/y", Answer(Outcome.ERROR, "503"))
    write_known_pages(tmp_path, "p", before, iter([PAGE, FAILED, down]))
    answer = PAGE.answer
    assert read_known_pages(find_known_files([tmp_path])["p"]) == {
        PAGE.url: KnownPage(answer.sha256, answer.etag, answer.modified, answer.links),
        "http://p.pl/y": KnownPage("old"),  # a temporary error keeps the known page
    }
    assert find_known_files([tmp_path / "p.known.json"]) == {"p": tmp_path / "p.known.json"}
    assert read_known_pages(find_known_files([tmp_path]).get("another")) == {}


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"pages": {"u": {}}}', b"\xff"])
def test_invalid_file_of_known_pages_is_reported(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "p.known.json"
    path.write_bytes(content)
    with pytest.raises(BadData, match=r"is not what an earlier run wrote|:1(:1)?: not JSON: "):
        read_known_pages(path)


def test_missing_folder_of_known_pages_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="no such file or folder"):
        find_known_files([tmp_path / "none"])
