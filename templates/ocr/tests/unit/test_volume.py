"""Pages are joined into a volume in order, even if some lack ALTO or text."""

import csv
import hashlib
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from ocr import volume
from ocr.mets import NAMESPACE, XLINK

from templates.ocr.tests.unit.pages import write_page

WORDS = {
    "p2": [[[("second", "0.9"), ("page", "0.3")]], []],
    "p1": [[[("first", "1")], [("of", "0.8"), ("two", "0.6")]]],
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, list[str]]:
    """Return the files of two pages; `p2` comes first in the volume."""
    for name, regions in WORDS.items():
        write_page(tmp_path / f"{name}.xml", regions)
        (tmp_path / f"{name}.alto.xml").write_text(f"<alto>{name}</alto>")
        (tmp_path / f"{name}.txt").write_text(f"text of {name}\n")
    return {
        option: [str(tmp_path / f"{name}{end}") for name in WORDS]
        for option, end in (("--pages", ".xml"), ("--altos", ".alto.xml"), ("--texts", ".txt"))
    }


def _put_together(files: dict[str, list[str]], out: Path, name: str = "book") -> int:
    arguments = [text for option, paths in files.items() for text in (option, *paths)]
    return volume.main(["--name", name, "--out", str(out), *arguments])


def _list_divs(out: Path) -> list[Any]:
    return list(etree.parse(out / "book.mets.xml").iter(f"{{{NAMESPACE}}}div"))


def test_text_of_a_volume_is_that_of_its_pages_in_order(
    files: dict[str, list[str]], tmp_path: Path
) -> None:
    assert _put_together(files, tmp_path) == 0
    assert (tmp_path / "book.txt").read_text() == "text of p2\n\ftext of p1\n\f"


def test_mets_names_the_files_of_each_page_with_their_checksums(
    files: dict[str, list[str]], tmp_path: Path
) -> None:
    files["--texts"].reverse()  # files are assigned to pages by their names
    assert _put_together(files, tmp_path) == 0
    whole, *pages = _list_divs(tmp_path)
    assert [page.get("LABEL") for page in pages] == ["p2", "p1"]
    assert [page.get("ORDER") for page in pages] == ["1", "2"]
    by_id = {file.get("ID"): file for file in whole.getroottree().iter(f"{{{NAMESPACE}}}file")}
    for page in pages:
        name = page.get("LABEL")
        page_files = [by_id[pointer.get("FILEID")] for pointer in page]
        assert [file[0].get(f"{{{XLINK}}}href") for file in page_files] == [
            f"{name}.xml",
            f"{name}.alto.xml",
            f"{name}.txt",
        ]
        for file in page_files:
            content = (tmp_path / file[0].get(f"{{{XLINK}}}href")).read_bytes()
            assert file.get("CHECKSUM") == hashlib.sha256(content).hexdigest()
            assert file.get("SIZE") == str(len(content))


def test_confidence_table_summarizes_each_page(files: dict[str, list[str]], tmp_path: Path) -> None:
    assert _put_together(files, tmp_path) == 0
    second, first = csv.DictReader((tmp_path / "book.confidences.csv").read_text().splitlines())
    assert second == {
        "order": "1",
        "page": "p2",
        "regions": "1",
        "lines": "1",
        "words": "2",
        "characters": "11",
        "mean_line_confidence": "0.500",
        "mean_word_confidence": "0.600",
        "lowest_word_confidence": "0.300",
        "words_to_check": "1",
    }
    assert (first["lines"], first["words_to_check"]) == ("2", "0")


def test_page_without_alto_and_text_is_in_the_volume(
    files: dict[str, list[str]], tmp_path: Path
) -> None:
    del files["--altos"][0], files["--texts"][0]
    assert _put_together(files, tmp_path) == 0
    _, *pages = _list_divs(tmp_path)
    assert [len(page) for page in pages] == [1, 3]
    assert (tmp_path / "book.txt").read_text() == "text of p1\n\f"


def test_volume_without_pages_has_no_files(tmp_path: Path) -> None:
    assert _put_together({}, tmp_path) == 0
    assert len(_list_divs(tmp_path)) == 1
    assert (tmp_path / "book.txt").read_bytes() == b""


def test_file_without_its_page_is_refused(
    files: dict[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files["--pages"].pop()
    assert _put_together(files, tmp_path) == 65
    assert "p1.alto.xml: this is of none of the pages of the volume" in capsys.readouterr().err
    assert not (tmp_path / "book.txt").exists()


def test_duplicate_page_is_refused(
    files: dict[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files["--pages"].append(files["--pages"][0])
    assert _put_together(files, tmp_path) == 65
    assert "p2.xml: a page of this name comes twice" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a/b", "", " ", ".hidden"])
def test_invalid_volume_name_is_refused(
    name: str, files: dict[str, list[str]], tmp_path: Path
) -> None:
    assert _put_together(files, tmp_path, name) == 64
