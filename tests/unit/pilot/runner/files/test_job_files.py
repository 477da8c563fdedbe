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
def job_files(
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
def output_folder(work: WorkFolder) -> Path:
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
    job_files: JobFiles, output_folder: Path, pattern: str
) -> None:
    path = (
        f"{output_folder}/{pattern}".removesuffix("/")
        if not pattern
        else f"{output_folder}/{pattern}"
    )
    assert sorted(map(os.path.normpath, matching_paths(path, job_files))) == sorted(
        map(os.path.normpath, glob.glob(path))
    )


def test_name_with_brackets_is_found_if_it_matches_nothing_as_a_pattern(
    job_files: JobFiles, output_folder: Path
) -> None:
    """``stdout: $(inputs.file.basename)`` gives such names."""
    assert matching_paths(f"{output_folder}/[1].dat", job_files) == [f"{output_folder}/[1].dat"]
    (output_folder / "1.dat").write_text("1")
    assert matching_paths(f"{output_folder}/[1].dat", job_files) == [f"{output_folder}/1.dat"], (
        "the match as a pattern comes first"
    )
    assert matching_paths(f"{output_folder}/[2].dat", job_files) == []


@pytest.mark.parametrize(
    "name", ["a.txt", "file", "absolute", "folder/c.txt", "in/x.dat", "sub/../sub/./deep/../c.txt"]
)
def test_links_within_the_job_folder_are_followed(
    job_files: JobFiles, output_folder: Path, name: str
) -> None:
    assert job_files.is_file(f"{output_folder}/{name}")
    with job_files.open_output(f"{output_folder}/{name}") as opened_output:
        assert os.read(opened_output.descriptor, 100) == (output_folder / name).read_bytes()
        assert opened_output.is_movable


def test_openat2_finds_files_below_a_folder_and_follows_no_links(
    work: WorkFolder, output_folder: Path
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


def test_output_with_a_name_that_is_not_utf_8_is_refused(
    job_files: JobFiles, output_folder: Path
) -> None:
    (output_folder / "n\udcff.dat").write_text("x")
    access = create_access_factory(job_files)(str(output_folder))
    refused = pytest.raises(ForeignFileError, match=r"the name 'n\\xff.dat' is not valid UTF-8")
    with refused:
        access.glob("*.dat")
    with refused:
        access.listdir(str(output_folder))


def test_missing_paths_have_no_status_and_cannot_be_opened(
    job_files: JobFiles, output_folder: Path
) -> None:
    for name in (
        "nothing", "dangling", "a.txt/x", "a.txt/", "a.txt/.", "a.txt/..", "nothing/../a.txt", "\0",
    ):  # fmt: skip
        assert job_files.status(f"{output_folder}/{name}") is None
        with pytest.raises(OSError):  # noqa: PT011 - the kind depends on the system
            job_files.open(f"{output_folder}/{name}")
    assert not job_files.is_file(f"{output_folder}/sub")
    assert not job_files.is_folder(f"{output_folder}/a.txt")
    assert job_files.is_folder(f"{output_folder}/folder")
    assert sorted(job_files.list_names(f"{output_folder}/folder")) == [".e", "c.txt", "deep"]


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
    job_files: JobFiles, output_folder: Path, tmp_path: Path, to: str
) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "f").write_text("foreign")
    target = to.format(os.path.realpath(tmp_path))
    (output_folder / "x").symlink_to(target)
    (output_folder / "y").symlink_to(f"{target}-that-is-not-there")
    for path in (
        f"{output_folder}/x",
        f"{output_folder}/y",
        f"{output_folder}/x/f",
        f"{output_folder}/{target}" if target.startswith("..") else target,
    ):
        for use in (
            job_files.status,
            job_files.open,
            job_files.list_names,
            job_files.is_file,
            job_files.is_folder,
            job_files.require,
        ):
            with pytest.raises(ForeignFileError, match="not a file of the job"):
                use(path)
        with pytest.raises(ForeignFileError), job_files.open_output(path):
            raise AssertionError
    with pytest.raises(ForeignFileError):
        matching_paths(f"{output_folder}/x/*", job_files)
    assert matching_paths(f"{output_folder}/*/f", job_files) == []


def test_input_outside_the_job_is_recognized_by_its_inode_and_never_moved(
    job_files: JobFiles, inputs: set[tuple[int, int]], output_folder: Path, tmp_path: Path
) -> None:
    stored, replaced = tmp_path / "stored", tmp_path / "replaced"
    for path in (stored, replaced):
        path.write_text("input")
        stat = path.stat()
        inputs.add((stat.st_dev, stat.st_ino))
    replaced.rename(tmp_path / "kept")
    replaced.write_text("something else")
    for number, target in enumerate(
        (str(stored), os.path.relpath(stored, output_folder), str(replaced))
    ):
        (output_folder / f"link-{number}").symlink_to(target)
    os.link(stored, output_folder / "name")
    for name in ("link-0", "link-1", "name"):
        with job_files.open_output(f"{output_folder}/{name}") as opened_output:
            assert not opened_output.is_movable
    with pytest.raises(ForeignFileError):
        job_files.open(f"{output_folder}/link-2")


def test_opened_output_is_stored_even_if_its_path_is_replaced(
    job_files: JobFiles, output_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "foreign").write_text("foreign")
    with job_files.open_output(f"{output_folder}/a.txt") as opened_output:
        (output_folder / "a.txt").unlink()
        (output_folder / "a.txt").symlink_to(tmp_path / "foreign")
        put_open(
            opened_output.descriptor,
            f"file://{tmp_path}/storage/a",
            may_link=opened_output.is_movable,
        )
    assert (tmp_path / "storage" / "a").read_text() == "a.txt"


def test_output_with_two_names_is_moved_once_and_copied_once(
    job_files: JobFiles, output_folder: Path, tmp_path: Path
) -> None:
    for number, name in enumerate(("a.txt", "file")):
        with job_files.open_output(f"{output_folder}/{name}") as opened_output:
            put_open(
                opened_output.descriptor,
                f"file://{tmp_path}/storage/{number}",
                may_link=opened_output.is_movable,
            )
    first, second = (tmp_path / "storage" / name for name in "01")
    assert first.samefile(output_folder / "a.txt")
    assert not second.samefile(first)
    assert first.read_text() == second.read_text() == "a.txt"


def test_files_are_not_created_through_links(
    job_files: JobFiles, work: WorkFolder, output_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "f").write_text("foreign")
    (output_folder / "to-folder").symlink_to(tmp_path / "foreign")
    (output_folder / "to-file").symlink_to(tmp_path / "foreign" / "f")
    os.link(tmp_path / "foreign" / "f", output_folder / "name")
    os.mkfifo(output_folder / "pipe")
    for name in ("to-folder/new", "to-folder/f", "to-file", "name", "pipe", "dangling"):
        with pytest.raises(ForeignFileError):
            job_files.create(f"{output_folder}/{name}")
    with pytest.raises(ForeignFileError):
        job_files.put_link(f"{output_folder}/to-folder/f", "/")
    job_files.put_link(f"{output_folder}/to-file", None)
    job_files.put_link(f"{output_folder}/name", "a.txt")
    job_files.put_link(f"{output_folder}/nothing/here", "a.txt")
    os.rmdir(f"{work.path}/tmp")
    os.symlink(tmp_path / "foreign", f"{work.path}/tmp")
    with pytest.raises(ForeignFileError):
        job_files.new_folder()
    assert [path.name for path in (tmp_path / "foreign").iterdir()] == ["f"]
    assert (tmp_path / "foreign" / "f").read_text() == "foreign"
    assert (output_folder / "name").readlink() == Path("a.txt")
    os.close(job_files.create(f"{output_folder}/a.txt"))
    assert (output_folder / "a.txt").read_text() == ""


def test_status_is_cached_after_the_tool_has_ended(
    job_files: JobFiles, output_folder: Path
) -> None:
    (output_folder / "away").symlink_to("/")
    job_files.cache_status()
    assert job_files.is_file(f"{output_folder}/a.txt")
    assert not job_files.is_file(f"{output_folder}/nothing")
    (output_folder / "a.txt").unlink()
    (output_folder / "nothing").touch()
    assert job_files.is_file(f"{output_folder}/a.txt")
    assert not job_files.is_file(f"{output_folder}/nothing")
    for _ in range(2):
        with pytest.raises(ForeignFileError):
            job_files.status(f"{output_folder}/away")


def test_cached_status_is_not_used_to_open_files(
    job_files: JobFiles, output_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "foreign").write_text("foreign")
    job_files.cache_status()
    assert job_files.is_file(f"{output_folder}/a.txt")
    os.close(job_files.open(f"{output_folder}/a.txt"))
    (output_folder / "a.txt").unlink()
    (output_folder / "a.txt").symlink_to(tmp_path / "foreign")
    with pytest.raises(ForeignFileError):
        job_files.open(f"{output_folder}/a.txt")
    with pytest.raises(ForeignFileError), job_files.open_output(f"{output_folder}/a.txt"):
        pass


def test_own_changes_update_the_cached_status(job_files: JobFiles, output_folder: Path) -> None:
    job_files.cache_status()
    assert job_files.status(f"{output_folder}/new") is None
    os.close(job_files.create(f"{output_folder}/new"))
    assert job_files.is_file(f"{output_folder}/new")
    job_files.put_link(f"{output_folder}/new", "sub")
    assert job_files.is_folder(f"{output_folder}/new")


def test_searches_leave_no_descriptor_open(job_files: JobFiles, output_folder: Path) -> None:
    def list_descriptors() -> list[str]:
        return sorted(os.listdir("/proc/self/fd"))

    (output_folder / "loop").symlink_to("loop")
    (output_folder / "away").symlink_to("/")
    before = list_descriptors()
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
            job_files.status(f"{output_folder}/{name}")
            matching_paths(f"{output_folder}/{name}/*", job_files)
        except ForeignFileError:
            continue
    assert list_descriptors() == before
