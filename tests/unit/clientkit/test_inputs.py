"""Files and directories that are uploaded as a data set."""

import os
from pathlib import Path

import pytest

from sluice.clientkit.transfer.entry_order import EntryOrder
from sluice.clientkit.transfer.inputs import (
    BundledEntry,
    InputEntry,
    list_entries,
    list_files,
)
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.templates.plan import DataEntries, SecondaryFile
from sluice.contracts.templates.secondary_files import secondary_name

READS = DataEntries(
    secondary_files=[SecondaryFile(pattern=".bai"), SecondaryFile(pattern="^.txt", required=False)]
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.bam", "a.bam.bai", "a.txt", "b c.bam", "b c.bam.bai"):
        (tmp_path / name).write_text(name)
    return tmp_path


def list_entry_names(entries: list[InputEntry]) -> list[tuple[str, list[str]]]:
    assert all(isinstance(entry, BundledEntry) for entry in entries)
    return [
        (entry.name, [one["basename"] for one in entry.value.get("secondaryFiles", ())])
        for entry in entries
        if isinstance(entry, BundledEntry)
    ]


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("x.bam", ".bai", "x.bam.bai"),
        ("x.bam", "^.bai", "x.bai"),
        ("x.tar.gz", "^^.idx", "x.idx"),
        ("x", "^^.idx", "x.idx"),
    ],
)
def test_secondary_file_patterns_follow_cwl(name: str, pattern: str, expected: str) -> None:
    assert secondary_name(name, pattern) == expected


def test_secondary_files_go_with_their_files_and_are_no_entries(folder: Path) -> None:
    expected = [("a.bam.tar", ["a.bam.bai", "a.txt"]), ("b c.bam.tar", ["b c.bam.bai"])]
    assert list_entry_names(list_entries([folder], READS)) == expected
    assert list_entry_names(list_entries([folder / "a.bam", folder / "b c.bam"], READS)) == expected
    assert (
        list_entry_names(
            list_entries([folder / "b c.bam", folder / "a.bam.bai", folder / "a.bam"], READS)
        )
        == expected[::-1]
    )


def test_missing_secondary_file_is_reported_before_the_upload(folder: Path) -> None:
    (folder / "a.bam.bai").unlink()
    with pytest.raises(Unprocessable, match=r"a\.bam: a\.bam\.bai"):
        list_entries([folder / "a.bam", folder / "b c.bam"], READS)
    (folder / "a.txt").unlink()
    assert list_entry_names(list_entries([folder / "b c.bam"], READS)) == [
        ("b c.bam.tar", ["b c.bam.bai"])
    ]


def test_mutual_secondary_files_leave_no_entries(folder: Path) -> None:
    both = DataEntries(
        secondary_files=[SecondaryFile(pattern="^.txt"), SecondaryFile(pattern="^.bam")]
    )
    with pytest.raises(Unprocessable, match="none is left"):
        list_entries([folder / "a.bam", folder / "a.txt"], both)


def test_directories_are_entries_if_the_template_takes_directories(folder: Path) -> None:
    (folder / "tree").mkdir()
    trees = DataEntries(type="Directory")
    assert list_entry_names(list_entries([folder / "tree"], trees)) == [("tree.tar", [])]
    with pytest.raises(Unprocessable, match=r"these are not: .*a\.bam"):
        list_entries([folder / "tree", folder / "a.bam"], trees)


#: A name with fewer than 240 characters but more bytes.
LONG = "ü" * 122 + ".csv"
NO_TEXT = "a\udcff"


def test_special_files_and_invalid_names_are_reported_before_the_upload(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to nothing").symlink_to(tmp_path / "nothing")
    for name in ("a\tb.txt", "a\nb.txt", "x" * 241, LONG, NO_TEXT):
        (tmp_path / name).touch()
    reasons = {
        Path("/dev/null"): "/dev/null: not a regular file, but a device, a pipe or a socket",
        tmp_path / "pipe": ".*pipe: not a regular file, but a device, a pipe or a socket",
        tmp_path / "to nothing": ".*to nothing: a link to .*/nothing, which does not exist",
        tmp_path / "a\tb.txt": r".*/a\\tb\.txt: the file name has a tab, a line break",
        tmp_path / ("x" * 241): r"x: the file name is too long \(241 bytes, at most 240\)",
        tmp_path / LONG: r"ü.csv: the file name is too long \(248 bytes, at most 240\)",
        tmp_path / NO_TEXT: r".*/a\\xff: the file name is not valid UTF-8; rename the file",
    }
    for path, reason in reasons.items():
        with pytest.raises(Unprocessable, match=reason):
            list_entries([path], DataEntries())
    with pytest.raises(Unprocessable, match="7 of the files cannot be taken") as refusal:
        list_entries([tmp_path], DataEntries())
    assert len(refusal.value.findings) == 7, "files in a folder must be reported, too"


def test_subfolders_are_left_out_with_a_message_unless_recursive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("b/z.txt", "b/c/1.txt", "a.txt", "d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert list_entries([tmp_path], DataEntries()) == [tmp_path / "a.txt", tmp_path / "d.txt"]
    assert "1 subfolder is left out" in capsys.readouterr().err
    taken = [tmp_path / name for name in ("a.txt", "b/c/1.txt", "b/z.txt", "d.txt")]
    assert list_entries([tmp_path], DataEntries(), recursive=True) == taken
    assert capsys.readouterr().err == ""
    (tmp_path / "b" / "back").symlink_to(tmp_path)
    assert list_entries([tmp_path], DataEntries(), recursive=True) == taken
    assert "links are not followed" in capsys.readouterr().err
    (tmp_path / "b" / "c" / "1.txt").unlink()
    with pytest.raises(Unprocessable, match="there is no file in"):
        list_entries([tmp_path / "b" / "c"], DataEntries())


def test_plain_files_need_no_bundle(folder: Path) -> None:
    assert list_entries([folder / "a.txt", folder / "a.bam"], DataEntries()) == [
        folder / "a.txt",
        folder / "a.bam",
    ]
    with pytest.raises(Unprocessable, match=r"nothing: no such file"):
        list_entries([folder / "nothing"], DataEntries())
    with pytest.raises(Unprocessable, match=r"a.tx: no such file \(did you mean 'a.txt'\?\)"):
        list_entries([folder / "a.tx"], DataEntries())


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (EntryOrder.GIVEN, ["b/p9.txt", "c/p2.txt", "a/p10.txt", "a/p9.txt"]),
        (EntryOrder.NAME, ["a/p10.txt", "c/p2.txt", "b/p9.txt", "a/p9.txt"]),
        (EntryOrder.NATURAL, ["c/p2.txt", "b/p9.txt", "a/p9.txt", "a/p10.txt"]),
        (EntryOrder.MTIME, ["a/p10.txt", "b/p9.txt", "a/p9.txt", "c/p2.txt"]),
    ],
)
def test_entries_have_the_requested_order(
    order: EntryOrder, expected: list[str], tmp_path: Path
) -> None:
    """Entries that are equal in this order keep the given order."""
    times = {"a/p9.txt": 20, "a/p10.txt": 10, "b/p9.txt": 20, "c/p2.txt": 30}
    for name, time in times.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
        os.utime(path, (time, time))
    paths = [tmp_path / "b" / "p9.txt", tmp_path / "c" / "p2.txt", tmp_path / "a"]
    entries = list_entries(paths, DataEntries(), order=order)
    assert [
        str(path.relative_to(tmp_path)) for path in entries if isinstance(path, Path)
    ] == expected


def _write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def test_hidden_files_of_a_folder_are_left_out_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path, ".DS_Store", "._a.txt", "a.txt", ".git/config", "deep/.x", "deep/b.txt")
    paths = list_files([tmp_path], recursive=True)
    assert paths == [tmp_path / "a.txt", tmp_path / "deep" / "b.txt"]
    assert capsys.readouterr().err.startswith("4 hidden files are left out: ")
    assert list_files([tmp_path / "._a.txt"]) == [tmp_path / "._a.txt"], (
        "a hidden file is taken if it is named"
    )
    capsys.readouterr()
    list_files([tmp_path, tmp_path / ".DS_Store"], recursive=True)
    assert capsys.readouterr().err.startswith("3 hidden files are left out: ")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("kind", ["File", "Directory"])
def test_link_out_of_a_folder_is_refused(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("x")
    (folder / "deep" / "inside.txt").symlink_to("../a.txt")
    (tmp_path / "secret").write_text("x")
    data_entries = DataEntries(type=kind)
    assert list_entries([folder], data_entries, recursive=True)
    (folder / "deep" / "out.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(Unprocessable, match=r"out\.txt: a link that leads out of its folder"):
        list_entries([folder], data_entries, recursive=True)


def test_links_out_of_a_folder_are_reported_with_other_faults(tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    folder = tmp_path / "in"
    _write(folder, "a\tb.txt")
    (folder / "out.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(Unprocessable, match="2 of the files cannot be taken"):
        list_entries([folder], DataEntries())
