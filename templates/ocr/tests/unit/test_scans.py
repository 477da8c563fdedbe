"""Generated scans: truth, reproducibility, and damage."""

import json
from pathlib import Path

import pytest
from ocr import fonts, scans
from ocr.alphabet import CHARACTERS
from ocr.fonts import FONTS, load_font
from ocr.scan_page import KINDS, draw_page


def _draw(folder: Path, *options: str) -> dict[str, bytes]:
    arguments = ["--out", str(folder), "--pages", "2", "--seed", "7", *options]
    assert scans.main(arguments) == 0
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_equal_seeds_give_equal_bytes(tmp_path: Path) -> None:
    kinds = ["--kind=noise", "--kind=stains"]
    first = _draw(tmp_path / "a", *kinds)
    assert sorted(first) == ["volume-p00001.png", "volume-p00002.png"]
    assert _draw(tmp_path / "b", *kinds) == first
    assert _draw(tmp_path / "c", *kinds, "--seed=8").values() != first.values()


def test_pages_of_different_volumes_differ(tmp_path: Path) -> None:
    pages = {*_draw(tmp_path / "a", "--volume=a").values()}
    pages |= {*_draw(tmp_path / "b", "--volume=b").values()}
    assert len(pages) == 4


def test_truth_names_each_page_and_its_text(volume: Path) -> None:
    truth = volume.parent / "truth"
    about = json.loads((truth / "kinds.json").read_text())
    assert [page["kind"] for page in about["pages"]] == list(KINDS)
    for page in about["pages"]:
        lines = (truth / f"{page['name']}.txt").read_text().splitlines()
        assert len(lines) == page["lines"] > 12
        assert {*"".join(lines)} <= {*CHARACTERS}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "skew"])
def test_lines_are_at_their_recorded_positions(kind: str) -> None:
    page = draw_page("where", kind)
    for line in page.lines:
        ink = page.pixels[
            line.baseline - page.size // 2 : line.baseline, line.left : line.left + 300
        ]
        assert ink.min() < 110


def test_columns_are_side_by_side() -> None:
    lefts = [line.left for line in draw_page("beside", "columns").lines]
    assert lefts == sorted(lefts)
    assert len({*lefts}) == 2


@pytest.mark.parametrize("font", FONTS)
def test_each_font_has_all_characters(font: str) -> None:
    loaded = load_font(font, 40)
    missing = bytes(loaded.getmask("\U0010fffd"))
    lacking = [char for char in CHARACTERS[1:] if bytes(loaded.getmask(char)) == missing]
    assert lacking == []


def test_missing_font_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fonts, "FOLDER", tmp_path)
    assert scans.main(["--out", str(tmp_path / "x"), "--pages", "1", "--seed", "1"]) == 69
    stderr = capsys.readouterr().err
    assert "is missing: apt-get install fonts-" in stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--damage=torn=1"], "'torn' is not one of cut, text"),
        (["--damage=cut=3"], "page 3 cannot be damaged: there are pages 1 to 2"),
        (["--volume=a/b"], "'a/b' is not a name"),
        (["--truth={out}/truth"], "must not be among the scans"),
    ],
)
def test_wrong_arguments_are_refused(
    options: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    filled_options = [option.replace("{out}", str(out)) for option in options]
    assert scans.main(["--out", str(out), "--pages", "2", "--seed", "1", *filled_options]) == 64
    assert sentence in capsys.readouterr().err
    assert not out.exists()
