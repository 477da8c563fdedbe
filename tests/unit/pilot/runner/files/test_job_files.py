"""Tests of how the files that a job may access are found through descriptors."""

import glob
import os
from pathlib import Path

import pytest

from pilot.folders.dotless_alias import DotlessAlias
from pilot.folders.openat2 import open_beneath
from pilot.folders.work_folder import WorkFolder
from pilot.runner.cwl.file_access import create_access_factory
from pilot.runner.files import path_walk
from pilot.runner.files.job_files import ForeignFileError, JobFiles
from pilot.runner.files.output_globs import matching_paths
from sluice.storage import put_open


@pytest.fixture
def work(tmp_path: Path) -> WorkFolder:
    return WorkFolder(f"{os.path.realpath(tmp_path)}/slot", DotlessAlias(str(tmp_path), "own"))


@pytest.fixture
def inputs() -> set[tuple[int, int]]:
    return set()


@pytest.fixture(params=["openat2", "walk"])
def own(
    work: WorkFolder,
    inputs: set[tuple[int, int]],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> JobFiles:
    """Return the files of the job, found by the kernel with openat2 and step by step as on an older
    kernel."""
    if request.param == "walk":
        monkeypatch.setattr(path_walk, "open_beneath", lambda folder, path: None)
    return JobFiles(work.folders, inputs)


@pytest.fixture
def out(work: WorkFolder) -> Path:
    """Return an output folder with files and links of many kinds."""
    folder = Path(work.path, "out")
    for name in (
        "a.txt",
        "b.txt",
        ".hidden",
        "[1].dat",
        "sub/c.txt",
        "sub/deep/d.txt",
        "sub/.e",
        "ü ö",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "file").symlink_to("a.txt")
    (folder / "absolute").symlink_to(folder / "sub" / "c.txt")
    (folder / "folder").symlink_to("sub/../sub/deep/..")
    (folder / "dangling").symlink_to("nothing")
    (folder / "in").symlink_to("../in")
    Path(work.path, "in", "x.dat").write_text("x")
    return folder


@pytest.mark.parametrize(
    "pattern",
    [
        ".", "", "a.txt", "*.txt", "*", ".*", "*/*.txt", "*/*/*", "s?b/[cd].txt", "sub/", "*/",
        "a.txt/", "sub//c.txt", "./a.txt", "sub/../*.txt", "**/*.txt", "folder/c.txt", "folder/*",
        "dangling", "nothing", "[[]1].dat", "in/*", "../in/x.dat", "absolute", "ü*", "a.txt/*",
        "a.txt/..", "*/..",
    ],
)  # fmt: skip
def test_patterns_match_like_those_of_the_glob_module(
    own: JobFiles, out: Path, pattern: str
) -> None:
    path = f"{out}/{pattern}".removesuffix("/") if not pattern else f"{out}/{pattern}"
    assert sorted(map(os.path.normpath, matching_paths(path, own))) == sorted(
        map(os.path.normpath, glob.glob(path))
    )


def test_name_with_brackets_is_found_if_it_matches_nothing_as_a_pattern(
    own: JobFiles, out: Path
) -> None:
    """``stdout: $(inputs.file.basename)`` gives such names."""
    assert matching_paths(f"{out}/[1].dat", own) == [f"{out}/[1].dat"]
    (out / "1.dat").write_text("1")
    assert matching_paths(f"{out}/[1].dat", own) == [f"{out}/1.dat"], (
        "the match as a pattern comes first"
    )
    assert matching_paths(f"{out}/[2].dat", own) == []


@pytest.mark.parametrize(
    "name", ["a.txt", "file", "absolute", "folder/c.txt", "in/x.dat", "sub/../sub/./deep/../c.txt"]
)
def test_links_within_the_job_folder_are_followed(own: JobFiles, out: Path, name: str) -> None:
    assert own.is_file(f"{out}/{name}")
    with own.open_output(f"{out}/{name}") as opened_output:
        assert os.read(opened_output.descriptor, 100) == (out / name).read_bytes()
        assert opened_output.is_movable


def test_openat2_finds_files_below_a_folder_and_follows_no_links(
    work: WorkFolder, out: Path
) -> None:
    root = work.folders[0].descriptor
    for name in ("", "out", "out/sub/deep/d.txt", "out/sub/../a.txt", "out/ü ö"):
        descriptor = open_beneath(root, name)
        assert descriptor is not None
        assert os.path.samestat(os.fstat(descriptor), os.stat(f"{work.path}/{name}"))
        os.close(descriptor)
    for name in ("out/file", "out/folder/c.txt", "out/dangling", "..", "out/../..", "/etc/passwd"):
        assert open_beneath(root, name) is None
    with pytest.raises(FileNotFoundError):
        open_beneath(root, "out/nothing")
    with pytest.raises(NotADirectoryError):
        open_beneath(root, "out/a.txt/x")


def test_output_with_a_name_that_is_not_utf_8_is_refused(own: JobFiles, out: Path) -> None:
    (out / "n\udcff.dat").write_text("x")
    access = create_access_factory(own)(str(out))
    refused = pytest.raises(ForeignFileError, match=r"the name 'n\\xff.dat' is not valid UTF-8")
    with refused:
        access.glob("*.dat")
    with refused:
        access.listdir(str(out))


def test_missing_paths_have_no_status_and_cannot_be_opened(own: JobFiles, out: Path) -> None:
    for name in (
        "nothing", "dangling", "a.txt/x", "a.txt/", "a.txt/.", "a.txt/..", "nothing/../a.txt", "\0",
    ):  # fmt: skip
        assert own.status(f"{out}/{name}") is None
        with pytest.raises(OSError):  # noqa: PT011 - the kind depends on the system
            own.open(f"{out}/{name}")
    assert not own.is_file(f"{out}/sub")
    assert not own.is_folder(f"{out}/a.txt")
    assert own.is_folder(f"{out}/folder")
    assert sorted(own.list_names(f"{out}/folder")) == [".e", "c.txt", "deep"]


@pytest.mark.parametrize(
    "to",
    [
        "{}/foreign",
        "{}/foreign/f",
        "../../foreign/f",
        "sub/../../../foreign/f",
        "{}",
        "/",
        "/proc/self/root",
    ],
)
def test_paths_outside_the_job_are_refused_whether_they_exist_or_not(
    own: JobFiles, out: Path, tmp_path: Path, to: str
) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "f").write_text("foreign")
    target = to.format(os.path.realpath(tmp_path))
    (out / "x").symlink_to(target)
    (out / "y").symlink_to(f"{target}-that-is-not-there")
    for path in (
        f"{out}/x",
        f"{out}/y",
        f"{out}/x/f",
        f"{out}/{target}" if target.startswith("..") else target,
    ):
        for use in (own.status, own.open, own.list_names, own.is_file, own.is_folder, own.require):
            with pytest.raises(ForeignFileError, match="not a file of the job"):
                use(path)
        with pytest.raises(ForeignFileError), own.open_output(path):
            raise AssertionError
    with pytest.raises(ForeignFileError):
        matching_paths(f"{out}/x/*", own)
    assert matching_paths(f"{out}/*/f", own) == []


def test_input_outside_the_job_is_recognized_by_its_inode_and_never_moved(
    own: JobFiles, inputs: set[tuple[int, int]], out: Path, tmp_path: Path
) -> None:
    stored, replaced = tmp_path / "stored", tmp_path / "replaced"
    for path in (stored, replaced):
        path.write_text("input")
        stat = path.stat()
        inputs.add((stat.st_dev, stat.st_ino))
    replaced.rename(tmp_path / "kept")
    replaced.write_text("something else")
    for number, target in enumerate((str(stored), os.path.relpath(stored, out), str(replaced))):
        (out / f"link-{number}").symlink_to(target)
    os.link(stored, out / "name")
    for name in ("link-0", "link-1", "name"):
        with own.open_output(f"{out}/{name}") as opened_output:
            assert not opened_output.is_movable
    with pytest.raises(ForeignFileError):
        own.open(f"{out}/link-2")


def test_opened_output_is_stored_even_if_its_path_is_replaced(
    own: JobFiles, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "foreign").write_text("foreign")
    with own.open_output(f"{out}/a.txt") as opened_output:
        (out / "a.txt").unlink()
        (out / "a.txt").symlink_to(tmp_path / "foreign")
        put_open(
            opened_output.descriptor,
            f"file://{tmp_path}/storage/a",
            may_link=opened_output.is_movable,
        )
    assert (tmp_path / "storage" / "a").read_text() == "a.txt"


def test_output_with_two_names_is_moved_once_and_copied_once(
    own: JobFiles, out: Path, tmp_path: Path
) -> None:
    for number, name in enumerate(("a.txt", "file")):
        with own.open_output(f"{out}/{name}") as opened_output:
            put_open(
                opened_output.descriptor,
                f"file://{tmp_path}/storage/{number}",
                may_link=opened_output.is_movable,
            )
    first, second = (tmp_path / "storage" / name for name in "01")
    assert first.samefile(out / "a.txt")
    assert not second.samefile(first)
    assert first.read_text() == second.read_text() == "a.txt"


def test_files_are_not_created_through_links(
    own: JobFiles, work: WorkFolder, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "f").write_text("foreign")
    (out / "to-folder").symlink_to(tmp_path / "foreign")
    (out / "to-file").symlink_to(tmp_path / "foreign" / "f")
    os.link(tmp_path / "foreign" / "f", out / "name")
    os.mkfifo(out / "pipe")
    for name in ("to-folder/new", "to-folder/f", "to-file", "name", "pipe", "dangling"):
        with pytest.raises(ForeignFileError):
            own.create(f"{out}/{name}")
    with pytest.raises(ForeignFileError):
        own.put_link(f"{out}/to-folder/f", "/")
    own.put_link(f"{out}/to-file", None)
    own.put_link(f"{out}/name", "a.txt")
    own.put_link(f"{out}/nothing/here", "a.txt")
    os.rmdir(f"{work.path}/tmp")
    os.symlink(tmp_path / "foreign", f"{work.path}/tmp")
    with pytest.raises(ForeignFileError):
        own.new_folder()
    assert [path.name for path in (tmp_path / "foreign").iterdir()] == ["f"]
    assert (tmp_path / "foreign" / "f").read_text() == "foreign"
    assert (out / "name").readlink() == Path("a.txt")
    os.close(own.create(f"{out}/a.txt"))
    assert (out / "a.txt").read_text() == ""


def test_status_is_cached_after_the_tool_has_ended(own: JobFiles, out: Path) -> None:
    (out / "away").symlink_to("/")
    own.cache_status()
    assert own.is_file(f"{out}/a.txt")
    assert not own.is_file(f"{out}/nothing")
    (out / "a.txt").unlink()
    (out / "nothing").touch()
    assert own.is_file(f"{out}/a.txt")
    assert not own.is_file(f"{out}/nothing")
    for _ in range(2):
        with pytest.raises(ForeignFileError):
            own.status(f"{out}/away")


def test_cached_status_is_not_used_to_open_files(own: JobFiles, out: Path, tmp_path: Path) -> None:
    (tmp_path / "foreign").write_text("foreign")
    own.cache_status()
    assert own.is_file(f"{out}/a.txt")
    os.close(own.open(f"{out}/a.txt"))
    (out / "a.txt").unlink()
    (out / "a.txt").symlink_to(tmp_path / "foreign")
    with pytest.raises(ForeignFileError):
        own.open(f"{out}/a.txt")
    with pytest.raises(ForeignFileError), own.open_output(f"{out}/a.txt"):
        pass


def test_own_changes_update_the_cached_status(own: JobFiles, out: Path) -> None:
    own.cache_status()
    assert own.status(f"{out}/new") is None
    os.close(own.create(f"{out}/new"))
    assert own.is_file(f"{out}/new")
    own.put_link(f"{out}/new", "sub")
    assert own.is_folder(f"{out}/new")


def test_searches_leave_no_descriptor_open(own: JobFiles, out: Path) -> None:
    def used() -> list[str]:
        return sorted(os.listdir("/proc/self/fd"))

    (out / "loop").symlink_to("loop")
    (out / "away").symlink_to("/")
    before = used()
    for name in (
        "sub/deep/d.txt",
        "folder/c.txt",
        "absolute",
        "nothing/x",
        "loop",
        "away",
        "sub/../a.txt/x",
    ):
        try:
            own.status(f"{out}/{name}")
            matching_paths(f"{out}/{name}/*", own)
        except ForeignFileError:
            continue
    assert used() == before
