"""Outputs of a tool, as the runner delivers and describes them."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from sluice.cwl_runner.outputs import OutputPathOccupied, place_outputs


def write_file(path: Path, text: str) -> dict[str, Any]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return {"class": "File", "location": path.as_uri(), "basename": path.name, "size": len(text)}


def test_output_files_are_moved_and_described(tmp_path: Path) -> None:
    out = tmp_path / "out dir"
    placed_outputs = place_outputs(
        {"o": write_file(tmp_path / "1" / "a#.txt", "text"), "n": 3, "none": None}, out
    )
    sha1 = hashlib.sha1(b"text", usedforsecurity=False).hexdigest()
    assert placed_outputs == {
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


def test_output_with_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.txt").write_text("of a run before")
    same = write_file(tmp_path / "1" / "a.txt", "1")
    placed_outputs = place_outputs(
        [same, write_file(tmp_path / "2" / "a.txt", "2"), same], tmp_path / "out"
    )
    assert [one["basename"] for one in placed_outputs] == ["a.txt", "a_2.txt", "a.txt"]
    assert [(tmp_path / "out" / one["basename"]).read_text() for one in placed_outputs] == [
        "1",
        "2",
        "1",
    ]


def test_secondary_files_stay_beside_their_file(tmp_path: Path) -> None:
    primary = write_file(tmp_path / "1" / "x.bam", "x") | {
        "secondaryFiles": [write_file(tmp_path / "1" / "x.bam.bai", "i")]
    }
    placed_outputs = place_outputs(primary, tmp_path / "out")
    assert placed_outputs["secondaryFiles"][0]["path"] == str(tmp_path / "out" / "x.bam.bai")


def test_directories_and_literals_are_written(tmp_path: Path) -> None:
    write_file(tmp_path / "1" / "d" / "deep" / "leaf", "leaf")
    tree = {"class": "Directory", "location": (tmp_path / "1" / "d").as_uri(), "basename": "d"}
    literal = {
        "class": "Directory",
        "basename": "made",
        "listing": [{"class": "File", "basename": "said", "contents": "so"}],
    }
    placed_tree, placed_literal = place_outputs([tree, literal], tmp_path / "out")
    [deep] = placed_tree["listing"]
    assert (deep["class"], deep["listing"][0]["basename"], deep["listing"][0]["size"]) == (
        "Directory",
        "leaf",
        4,
    )
    assert placed_literal["listing"][0]["basename"] == "said"
    assert (tmp_path / "out" / "made" / "said").read_text() == "so"


def write_folder(path: Path, **files: str) -> dict[str, Any]:
    for name, text in files.items():
        write_file(path / name, text)
    return {"class": "Directory", "location": path.as_uri(), "basename": path.name}


def test_output_directory_is_merged_into_an_existing_directory(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_folder(out / "results", old="of the user", same="before")
    write_folder(out / "results" / "deep", old="too")
    results_folder = write_folder(tmp_path / "1" / "results", new="n", same="after")
    write_folder(tmp_path / "1" / "results" / "deep", new="d")
    placed_output = place_outputs(results_folder, out)
    contents = {
        str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()
    }
    assert contents == {
        "results/old": "of the user",
        "results/same": "after",
        "results/new": "n",
        "results/deep/old": "too",
        "results/deep/new": "d",
    }
    assert [one["basename"] for one in placed_output["listing"]] == ["deep", "new", "same"], (
        "only the entries of the tool must be listed"
    )


def test_conflicting_path_is_reported_before_any_file_is_moved(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_folder(out / "name", old="of the user")
    write_file(out / "deep" / "inner", "a file")
    free = write_file(tmp_path / "1" / "free", "1")
    with pytest.raises(
        OutputPathOccupied, match="out/name is a directory, and the output of that name is a file"
    ):
        place_outputs([free, write_file(tmp_path / "1" / "name", "x")], out)
    deep_folder = write_folder(tmp_path / "1" / "deep")
    write_folder(tmp_path / "1" / "deep" / "inner", new="n")
    with pytest.raises(
        OutputPathOccupied,
        match="out/deep/inner is a file, and the output of that name is a directory",
    ):
        place_outputs([free, deep_folder], out)
    contents = {
        str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()
    }
    assert contents == {"name/old": "of the user", "deep/inner": "a file"}


@pytest.mark.parametrize("name", ["../up", "..", "a/b"])
def test_output_name_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    literal = {"class": "File", "basename": name, "contents": "boo"}
    for value in (literal, {"class": "Directory", "basename": "d", "listing": [literal]}):
        with pytest.raises(OutputPathOccupied, match="not the name of a file"):
            place_outputs(value, tmp_path / "out" / "deep")
    assert list(tmp_path.iterdir()) == []
