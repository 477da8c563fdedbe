"""Outputs other than plain files, as they appear in the output folder."""

import hashlib
import json
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sluice.clientkit.transfer.output_bundles import unpack_output
from sluice.contracts.chains.chains import ChainOutput
from sluice.contracts.common.states import DatasetState, DatasetType, EntryKind
from sluice.contracts.data.datasets import Dataset, File
from sluice.cwl_values import BundleError, pack


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def write_files(root: Path, *names: str) -> list[dict[str, Any]]:
    root.mkdir(parents=True, exist_ok=True)
    for name in names:
        (root / name).write_text(f"{root.name} {name}")
    return [
        {"class": "File", "location": (root / name).as_uri(), "basename": name} for name in names
    ]


def write_bundle_output(tmp_path: Path, seq: int, value: Any) -> tuple[File, Path]:
    path = tmp_path / f"{seq}.tar"
    pack(value, path)
    content = path.read_bytes()
    file = File(
        id=seq,
        dataset_uid=uuid.uuid4(),
        seq=seq,
        name=f"{seq:08d}.1-x.tar",
        size=len(content),
        checksum=f"sha256:{hashlib.sha256(content).hexdigest()}",
        url=f"file://{path}",
    )
    return file, path


def make_output(*, single: bool = False) -> ChainOutput:
    dataset = Dataset(
        uid=uuid.uuid4(),
        name="s.p",
        type=DatasetType.OUTPUT,
        state=DatasetState.UPLOADED,
        meta={},
        count_files=1,
        bytes=1,
        timestamp=datetime.now(UTC),
    )
    return ChainOutput(name="found", kind=EntryKind.BUNDLE, single=single, dataset=dataset)


def read_folder(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_directories_of_the_same_name_do_not_mix(tmp_path: Path, out: Path) -> None:
    files = []
    for seq in (3, 7):
        write_files(tmp_path / str(seq) / "tree", f"only-{seq}")
        tree = {"class": "Directory", "location": (tmp_path / str(seq) / "tree").as_uri()}
        files.append(write_bundle_output(tmp_path, seq, tree))
    written = unpack_output(files, make_output(), out)
    expected = ["found/000003/tree/only-3", "found/000007/tree/only-7"]
    assert list(read_folder(out)) == expected
    assert [
        (written_file.path.relative_to(out).as_posix(), written_file.file.seq)
        for written_file in written
    ] == list(zip(expected, (3, 7), strict=True))
    assert (
        unpack_output(files[:1], make_output(), out)[0].path == out / "found" / "tree" / "only-3"
    ), "a single directory needs no number"


def test_folders_lists_and_secondary_files_go_to_a_relative_folder(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default of ``--out`` is a relative folder."""
    write_files(tmp_path / "tree", "inner")
    bam, bai = write_files(tmp_path / "reads", "x.bam", "x.bam.bai")
    values = [
        {"class": "Directory", "location": (tmp_path / "tree").as_uri()},
        write_files(tmp_path / "list", "one", "two"),
        {**bam, "secondaryFiles": [bai]},
    ]
    bundles = [write_bundle_output(tmp_path, seq, value) for seq, value in enumerate(values)]
    monkeypatch.chdir(tmp_path)
    relative = [(file, path.relative_to(tmp_path)) for file, path in bundles]
    written = unpack_output(relative, make_output(), Path("out"))
    expected = ["one", "tree/inner", "two", "x.bam", "x.bam.bai"]
    assert [name for name in read_folder(out) if name != "found.json"] == [
        f"found/{name}" for name in expected
    ]
    assert {written_file.path for written_file in written} == {
        Path("out/found.json"),
        *(Path("out/found", name) for name in expected),
    }


def test_output_of_an_earlier_run_is_replaced(tmp_path: Path, out: Path) -> None:
    write_files(out / "found" / "tree", "old")
    write_files(tmp_path / "tree", "new")
    unpack_output(
        [
            write_bundle_output(
                tmp_path, 0, {"class": "Directory", "location": (tmp_path / "tree").as_uri()}
            )
        ],
        make_output(),
        out,
    )
    assert list(read_folder(out)) == ["found/tree/new"]


def test_files_keep_their_secondary_files(tmp_path: Path, out: Path) -> None:
    files = []
    for seq in range(2):
        bam, bai = write_files(tmp_path / str(seq), "x.bam", "x.bam.bai")
        files.append(write_bundle_output(tmp_path, seq, {**bam, "secondaryFiles": [bai]}))
    unpack_output(files, make_output(), out)
    assert read_folder(out) == {
        f"found/00000{seq}/x.bam{end}": f"{seq} x.bam{end}"
        for seq in range(2)
        for end in ("", ".bai")
    }


def test_lists_with_equal_names_are_separated_and_described(tmp_path: Path, out: Path) -> None:
    value = [*write_files(tmp_path / "1", "a", "b"), *write_files(tmp_path / "2", "a")]
    unpack_output([write_bundle_output(tmp_path, 0, value)], make_output(), out)
    assert {name: text for name, text in read_folder(out).items() if name != "found.json"} == {
        "found/000000/3/a": "2 a",
        "found/000000/a": "1 a",
        "found/000000/b": "1 b",
    }
    [descriptions] = json.loads((out / "found.json").read_text())
    assert [one["path"] for one in descriptions] == [
        "found/000000/a",
        "found/000000/b",
        "found/000000/3/a",
    ]


def test_no_output_file_overwrites_another(tmp_path: Path, out: Path) -> None:
    """The names of the files and their folders in the tool do not matter."""
    [one], [other], [third] = (
        write_files(tmp_path / "1", "3"),
        write_files(tmp_path / "2", "a"),
        write_files(tmp_path / "3", "a"),
    )
    unpack_output([write_bundle_output(tmp_path, 0, [one, other, third])], make_output(), out)
    assert set(read_folder(out).values()) >= {"1 3", "2 a", "3 a"}
    literal = {
        "class": "Directory",
        "basename": "d",
        "listing": write_files(tmp_path / "4", "a") + write_files(tmp_path / "5", "a"),
    }
    beside = {
        **write_files(tmp_path / "6", "x")[0],
        "secondaryFiles": write_files(tmp_path / "7", "x"),
    }
    unpack_output([write_bundle_output(tmp_path, 1, [literal, beside])], make_output(), out)
    assert {
        name: text
        for name, text in read_folder(out).items()
        if name != "found.json" and " " in text and text[0] in "4567"
    } == {
        "found/d/a": "4 a",
        "found/d/a_2": "5 a",
        "found/x": "6 x",
        "found/x_2": "7 x",
    }


@pytest.mark.parametrize(
    ("single", "expected"), [(True, {"n": 3, "said": "é"}), (False, [{"n": 3, "said": "é"}])]
)
def test_values_are_written_as_json(tmp_path: Path, out: Path, single: bool, expected: Any) -> None:
    unpack_output(
        [write_bundle_output(tmp_path, 0, {"n": 3, "said": "é"})], make_output(single=single), out
    )
    assert {path.name for path in out.iterdir()} == {"found.json"}
    assert json.loads((out / "found.json").read_text()) == expected


@pytest.mark.parametrize("kind", ["File", "Directory"])
@pytest.mark.parametrize("name", ["..", ".", "../../said", "/said"])
def test_bundle_names_cannot_leave_the_output_folder(
    kind: str, name: str, tmp_path: Path, out: Path
) -> None:
    literal = {"class": kind, "basename": name, "contents": "here", "listing": []}
    with pytest.raises(BundleError, match="not a file name"):
        unpack_output([write_bundle_output(tmp_path, 1, [literal])], make_output(), out)
    with pytest.raises(BundleError, match="not a file name"):
        unpack_output(
            [
                write_bundle_output(
                    tmp_path, 2, {"class": "Directory", "basename": "d", "listing": [literal]}
                )
            ],
            make_output(),
            out,
        )
    assert not (tmp_path / "said").exists()
