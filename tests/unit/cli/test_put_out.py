"""Outputs of a tool, as they are put into the user's folder and told."""

import hashlib
from pathlib import Path
from typing import Any

from sluice.cli.cwl_runner.outputs import put_out


def file(path: Path, text: str) -> dict[str, Any]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return {"class": "File", "location": path.as_uri(), "basename": path.name, "size": len(text)}


def test_files_are_moved_and_told(tmp_path: Path) -> None:
    out = tmp_path / "out dir"
    told = put_out({"o": file(tmp_path / "1" / "a#.txt", "text"), "n": 3, "none": None}, out)
    sha1 = hashlib.sha1(b"text", usedforsecurity=False).hexdigest()
    assert told == {
        "o": {
            "class": "File",
            "location": (out / "a#.txt").as_uri(),
            "path": str(out / "a#.txt"),
            "basename": "a#.txt",
            "checksum": f"sha1${sha1}",
            "size": 4,
        },
        "n": 3,
        "none": None,
    }
    assert (out / "a#.txt").read_text() == "text"


def test_names_that_are_taken_get_a_number(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.txt").write_text("of a run before")
    same = file(tmp_path / "1" / "a.txt", "1")
    told = put_out([same, file(tmp_path / "2" / "a.txt", "2"), same], tmp_path / "out")
    assert [one["basename"] for one in told] == ["a.txt", "a_2.txt", "a.txt"]
    assert [(tmp_path / "out" / one["basename"]).read_text() for one in told] == ["1", "2", "1"]


def test_secondary_files_stay_beside_theirs(tmp_path: Path) -> None:
    primary = file(tmp_path / "1" / "x.bam", "x") | {"secondaryFiles": [file(tmp_path / "1" / "x.bam.bai", "i")]}
    told = put_out(primary, tmp_path / "out")
    assert told["secondaryFiles"][0]["path"] == str(tmp_path / "out" / "x.bam.bai")


def test_directories_and_literals(tmp_path: Path) -> None:
    file(tmp_path / "1" / "d" / "deep" / "leaf", "leaf")
    tree = {"class": "Directory", "location": (tmp_path / "1" / "d").as_uri(), "basename": "d"}
    literal = {"class": "Directory", "basename": "made", "listing": [{"class": "File", "basename": "said", "contents": "so"}]}
    found, made = put_out([tree, literal], tmp_path / "out")
    [deep] = found["listing"]
    assert (deep["class"], deep["listing"][0]["basename"], deep["listing"][0]["size"]) == ("Directory", "leaf", 4)
    assert made["listing"][0]["basename"] == "said"
    assert (tmp_path / "out" / "made" / "said").read_text() == "so"
