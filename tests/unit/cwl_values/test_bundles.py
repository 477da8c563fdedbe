"""Tests of bundles: values are unpacked as they were packed, packing is reproducible, and archives
cannot write elsewhere."""

import io
import json
import os
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from sluice.cwl_values import BundleError, pack, unpack


def get_path(value: dict[str, Any]) -> Path:
    return Path(unquote(urlsplit(value["location"]).path))


@pytest.fixture
def source_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "made here"
    (folder / "tree" / "deep").mkdir(parents=True)
    (folder / "a b#1.bam").write_text("reads")
    (folder / "a b#1.bam.bai").write_text("index")
    (folder / "tree" / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "tree" / "deep" / "run.sh").chmod(0o755)
    (folder / "tree" / "link").symlink_to("deep/run.sh")
    os.link(folder / "a b#1.bam", folder / "tree" / "hard")
    (folder / "tree" / "empty").mkdir()
    return folder


def write_value(folder: Path) -> dict[str, Any]:
    reads = {
        "class": "File",
        "location": (folder / "a b#1.bam").as_uri(),
        "nameroot": "a b#1",
        "secondaryFiles": [{"class": "File", "path": str(folder / "a b#1.bam.bai")}],
    }
    tree = {"class": "Directory", "location": (folder / "tree").as_uri(), "listing": []}
    literal = {"class": "File", "basename": "said.txt", "contents": "said", "location": "_:123"}
    return {"number": 3, "reads": [reads, reads], "tree": tree, "literal": literal, "none": None}


def test_directory_keeps_a_listing_that_names_its_entries(
    source_folder: Path, tmp_path: Path
) -> None:
    tree = source_folder / "tree"
    deep = {"class": "Directory", "basename": "deep", "listing": []}
    listing = [deep, {"class": "File", "path": str(tree / "link")}, {"class": "File", "path": ".x"}]
    value = {"class": "Directory", "path": str(tree), "listing": listing}
    (tree / ".x").write_text("hidden")
    pack(
        value, tmp_path / "one.tar", leave_out=lambda name: name.startswith("."), keep_listings=True
    )
    unpacked_value = unpack(tmp_path / "one.tar", tmp_path / "out")
    folder = get_path(unpacked_value)
    assert [get_path(entry) for entry in unpacked_value["listing"]] == [
        folder / "deep",
        folder / "link",
    ]
    assert unpacked_value["listing"][0]["listing"] == []
    pack(value, tmp_path / "two.tar")
    assert "listing" not in unpack(tmp_path / "two.tar", tmp_path / "out2")


def test_listing_of_an_entry_that_a_directory_does_not_have_is_refused(
    source_folder: Path, tmp_path: Path
) -> None:
    listing = [{"class": "File", "path": str(source_folder / "a b#1.bam")}]
    value = {"class": "Directory", "path": str(source_folder / "tree"), "listing": listing}
    with pytest.raises(BundleError, match="which its listing has"):
        pack(value, tmp_path / "one.tar", keep_listings=True)


def test_unpacked_value_has_all_its_files(source_folder: Path, tmp_path: Path) -> None:
    pack(write_value(source_folder), tmp_path / "one.tar")
    unpacked_value = unpack(tmp_path / "one.tar", tmp_path / "out")
    assert (unpacked_value["number"], unpacked_value["none"], unpacked_value["literal"]) == (
        3,
        None,
        {"class": "File", "basename": "said.txt", "contents": "said"},
    )
    for reads in unpacked_value["reads"]:
        assert get_path(reads).read_text() == "reads"
        [index] = reads["secondaryFiles"]
        assert get_path(index) == get_path(reads).with_name("a b#1.bam.bai")
        assert get_path(index).read_text() == "index"
        assert "nameroot" not in reads
    tree = get_path(unpacked_value["tree"])
    assert (tree / "link").read_text() == "#!/bin/sh\n"
    assert not (tree / "link").is_symlink()
    assert (tree / "hard").read_text() == "reads"
    assert os.access(tree / "deep" / "run.sh", os.X_OK)
    assert (tree / "empty").is_dir()


def test_same_value_gives_the_same_archive(source_folder: Path, tmp_path: Path) -> None:
    pack(write_value(source_folder), tmp_path / "one.tar")
    for path in source_folder.rglob("*"):
        os.utime(path, (1, 1))
    pack(write_value(source_folder), tmp_path / "other.tar")
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "other.tar").read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        "../out.txt",
        "/etc/out.txt",
        "files/../../out.txt",
        "files/out.txt",
        "files/0//a",
        "other/0/a",
    ],
)
def test_member_outside_the_bundle_is_refused(name: str, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "bad.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo(name), io.BytesIO(b""))
    with pytest.raises(BundleError, match="no place in a bundle"):
        unpack(tmp_path / "bad.tar", tmp_path / "in" / "folder")
    assert not list(tmp_path.rglob("*out*"))


def test_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    link = tarfile.TarInfo("files/0/passwd")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with tarfile.open(tmp_path / "bad.tar", "w") as archive:
        archive.addfile(link)
    with pytest.raises(BundleError, match="no place in a bundle"):
        unpack(tmp_path / "bad.tar", tmp_path)


def write_archive(path: Path, value: Any, *members: tarfile.TarInfo) -> Path:
    """Write a bundle with a file ``files/0/a``, as any program could write it."""
    content = json.dumps(value).encode()
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for member in (tarfile.TarInfo("files/0/a"), *members):
            archive.addfile(member, io.BytesIO(b"x" * member.size))
        described = tarfile.TarInfo("value.json")
        described.size = len(content)
        archive.addfile(described, io.BytesIO(content))
    return path


A_FILE = {"class": "File", "basename": "a", "location": "files/0/a"}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"location": "/etc/passwd"}, "the archive does not have"),
        ({"location": "../secret"}, "the archive does not have"),
        ({"location": "files/0/../../../secret"}, "the archive does not have"),
        ({"location": "file:///etc/passwd"}, "the archive does not have"),
        ({"location": "files/0/other"}, "the archive does not have"),
        ({"location": "files/0/" + "n" * 300}, "the archive does not have"),
        ({"location": "files/0/a\0"}, "the archive does not have"),
        ({"location": 1}, "location is not text"),
        ({"basename": ["a"]}, "basename is not text"),
        ({"basename": "../a"}, "is not a file name"),
        ({"secondaryFiles": [{**A_FILE, "location": "/etc/passwd"}]}, "the archive does not have"),
        ({"secondaryFiles": "a"}, "secondaryFiles is not a list"),
        ({"size": float("nan")}, "NaN"),
    ],
)
def test_value_that_names_files_outside_its_archive_is_refused(
    fields: dict[str, Any], why: str, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    bad = write_archive(tmp_path / "bad.tar", {"x": [{**A_FILE, **fields}]})
    with pytest.raises(BundleError, match=why):
        unpack(bad, tmp_path / "in")


def test_path_in_a_value_is_not_followed(tmp_path: Path) -> None:
    value = [{"class": "File", "path": "/etc/passwd"}, {**A_FILE, "path": "/etc/passwd"}]
    with pytest.raises(BundleError, match="neither a place nor content"):
        unpack(write_archive(tmp_path / "one.tar", value), tmp_path / "one")
    unpacked_value = unpack(write_archive(tmp_path / "other.tar", value[1]), tmp_path / "other")
    assert "path" not in unpacked_value


def test_sparse_file_of_an_archive_is_refused(tmp_path: Path) -> None:
    """A few bytes can declare a file of many TB, which would take hours to write."""
    sparse = tarfile.TarInfo("files/0/b")
    sparse.size = 512
    sparse.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.map": f"{1 << 20},0",
        "GNU.sparse.size": str(1 << 20),
    }
    bad = write_archive(tmp_path / "bad.tar", A_FILE, sparse)
    with pytest.raises(BundleError, match="sparse"):
        unpack(bad, tmp_path / "in")


@pytest.mark.parametrize("name", ["files/0/a/below", "files/0/" + "n" * 300])
def test_member_name_that_cannot_be_created_is_a_bundle_error(name: str, tmp_path: Path) -> None:
    bad = write_archive(tmp_path / "bad.tar", A_FILE, tarfile.TarInfo(name))
    with pytest.raises(BundleError, match=r"bad\.tar is not a bundle"):
        unpack(bad, tmp_path / "in")


def test_file_that_is_not_a_bundle_raises_an_error(tmp_path: Path) -> None:
    (tmp_path / "text.tar").write_text("no archive")
    with pytest.raises(BundleError, match=r"text\.tar is not a bundle"):
        unpack(tmp_path / "text.tar", tmp_path)
    with tarfile.open(tmp_path / "empty.tar", "w"):
        pass
    with pytest.raises(BundleError, match=r"no value\.json"):
        unpack(tmp_path / "empty.tar", tmp_path)


def test_value_that_cannot_be_packed_raises_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "round").mkdir()
    (tmp_path / "round" / "again").symlink_to(tmp_path / "round")
    for path, kind, why in (
        ("pipe", "File", "neither a file"),
        ("gone", "File", "neither a file"),
        ("round", "Directory", "that contains it"),
    ):
        with pytest.raises(BundleError, match=why):
            pack({"class": kind, "path": str(tmp_path / path)}, tmp_path / "x.tar")
    with pytest.raises(BundleError, match="neither a place nor content"):
        pack({"class": "File", "basename": "a"}, tmp_path / "x.tar")


@pytest.mark.parametrize("name", ["a/b", "..", ".", "a\0b"])
def test_basename_that_is_not_a_plain_name_is_not_packed(
    name: str, source_folder: Path, tmp_path: Path
) -> None:
    for value in ({"path": str(source_folder / "a b#1.bam")}, {"contents": "x"}):
        with pytest.raises(BundleError, match="is not a file name"):
            pack({"class": "File", "basename": name, **value}, tmp_path / "x.tar")


def test_files_with_the_same_name_are_packed_under_different_names(
    source_folder: Path, tmp_path: Path
) -> None:
    (source_folder / "tree" / "x").write_text("in the tree")
    (source_folder / "x").write_text("above it")
    beside = [
        {"class": "File", "path": str(source_folder / "tree" / "x")},
        {"class": "File", "path": str(source_folder / "a b#1.bam"), "basename": "x"},
    ]
    pack(
        {"class": "File", "path": str(source_folder / "x"), "secondaryFiles": beside},
        tmp_path / "x.tar",
    )
    unpacked_value = unpack(tmp_path / "x.tar", tmp_path / "out")
    every = [unpacked_value, *unpacked_value["secondaryFiles"]]
    assert (
        [file["basename"] for file in every]
        == [get_path(file).name for file in every]
        == ["x", "x_2", "x_3"]
    )
    assert [get_path(file).read_text() for file in every] == ["above it", "in the tree", "reads"]


def test_nan_in_a_value_is_not_packed(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"^n\[1\] is NaN, and JSON has no such number"):
        pack({"n": [1, float("nan")]}, tmp_path / "x.tar")


def test_too_deep_folder_is_not_packed(tmp_path: Path) -> None:
    (tmp_path / "/".join("d" * 101)).mkdir(parents=True)
    pack({"class": "Directory", "path": str(tmp_path / "d" / "d")}, tmp_path / "x.tar")
    with pytest.raises(BundleError, match="is more than 100 folders deep"):
        pack({"class": "Directory", "path": str(tmp_path / "d")}, tmp_path / "x.tar")


@pytest.mark.parametrize("value", [b"[" * 5000, b"9" * 5000])
def test_archive_with_an_unreadable_value_is_not_a_bundle(value: bytes, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        member = tarfile.TarInfo("value.json")
        member.size = len(value)
        archive.addfile(member, io.BytesIO(value))
    with pytest.raises(BundleError, match="is not a bundle"):
        unpack(tmp_path / "x.tar", tmp_path / "out")


def test_packing_of_many_files_takes_little_memory(tmp_path: Path) -> None:
    (folder := tmp_path / "d").mkdir()
    (folder / "0").touch()
    for number in range(1, 5_000):
        os.link(folder / "0", folder / str(number))
    tracemalloc.start()
    try:
        pack({"class": "Directory", "path": str(folder)}, tmp_path / "bundle")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_bundle_is_unpacked_into_a_relative_folder(
    source_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = [
        {"class": "File", "path": str(source_folder / "a b#1.bam")},
        {"class": "Directory", "path": str(source_folder / "tree")},
    ]
    pack(value, tmp_path / "b.tar")
    monkeypatch.chdir(tmp_path)
    reads, tree = unpack(Path("b.tar"), Path("out"))
    assert get_path(reads) == tmp_path / "out/files/0/a b#1.bam"
    assert get_path(reads).read_text() == "reads"
    assert (get_path(tree) / "deep/run.sh").is_file()


def test_file_url_with_a_relative_path_is_not_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(BundleError, match="absolute path"):
        pack({"class": "File", "location": "file://a.txt"}, tmp_path / "b.tar")
