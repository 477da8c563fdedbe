"""Tests that the search for outputs is bounded, whatever links and patterns a tool uses."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cwltool.utils import get_listing

from pilot.folders.dotless_alias import DotlessAlias
from pilot.folders.work_folder import WorkFolder
from pilot.runner.cwl.file_access import create_access_factory
from pilot.runner.files.access_errors import InvalidOutputError
from pilot.runner.files.job_files import ForeignFileError, JobFiles
from pilot.runner.files.output_allowance import OutputAllowance
from pilot.runner.files.output_globs import matching_paths
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.cwl_values import pack
from tests.unit.pilot.attempts import get_error, make_python_tool, run
from tests.unit.pilot.builders import SHA, make_task, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.slot_runner import Runner

_STEPS, _PATHS = 10_000_000, 1_000_000


@pytest.fixture
def work(tmp_path: Path) -> WorkFolder:
    return WorkFolder(f"{os.path.realpath(tmp_path)}/slot", DotlessAlias(str(tmp_path), "own"))


@pytest.fixture
def job_files(work: WorkFolder) -> JobFiles:
    return JobFiles(work.folders, set())


@pytest.fixture
def output_folder(work: WorkFolder) -> Path:
    """Make folders with two links each to the next folder, so that 2^30 paths lead to the last."""
    folder = Path(work.path, "out")
    for level in range(30):
        (folder / f"d{level}").mkdir(parents=True)
        for name in "ab":
            (folder / f"d{level}" / name).symlink_to(f"../d{level + 1}")
    (folder / "d30").mkdir()
    return folder


def list_folder(job_files: JobFiles, output_folder: Path) -> None:
    get_listing(
        create_access_factory(job_files)(str(output_folder)),
        {"class": "Directory", "location": f"file://{output_folder}/d0"},
        True,
    )


def pack_folder(job_files: JobFiles, output_folder: Path) -> None:
    allowance = OutputAllowance(job_files, disk=0, inputs=0)
    value = {"class": "Directory", "location": f"file://{output_folder}/d0"}
    pack(value, output_folder.parent / "bundle", open_file=allowance.open)


def search_deeply(job_files: JobFiles, output_folder: Path) -> None:
    matching_paths(f"{output_folder}/d0{'/*' * 29}/z", job_files)


@pytest.mark.parametrize(
    ("search", "steps", "paths"),
    [
        (list_folder, _STEPS - 1000, 0),
        (list_folder, _STEPS - 500_000, _PATHS - 1000),
        (pack_folder, _STEPS - 1000, 0),
        (search_deeply, _STEPS - 1000, 0),
        (search_deeply, _STEPS - 500_000, _PATHS - 1000),
    ],
)
def test_too_expensive_search_is_refused(
    job_files: JobFiles,
    output_folder: Path,
    search: Callable[[JobFiles, Path], None],
    steps: int,
    paths: int,
) -> None:
    job_files.cost.steps, job_files.cost.paths = steps, paths
    which = f"{_PATHS} paths" if paths else f"{_STEPS} steps"
    with pytest.raises(InvalidOutputError, match=f"more than {which}.*use fewer wildcards"):
        search(job_files, output_folder)
    assert job_files.cost.steps < _STEPS + 10_000


def test_cost_of_patterns_with_parent_folders_is_bounded(
    job_files: JobFiles, output_folder: Path
) -> None:
    job_files.cost.paths = _PATHS - 10_000
    with pytest.raises(InvalidOutputError, match=r"more than 1000000 paths"):
        matching_paths(f"{output_folder}/{'*/../' * 20}*", job_files)


def test_too_long_pattern_is_refused(job_files: JobFiles, output_folder: Path) -> None:
    with pytest.raises(InvalidOutputError, match="more than 4096 characters"):
        matching_paths(f"{output_folder}/*{'/.' * 100_000}", job_files)


def test_links_with_too_long_paths_are_not_followed(
    job_files: JobFiles, output_folder: Path
) -> None:
    (output_folder / "way").symlink_to("d1/../" * 500 + "d1")
    (output_folder / "ways").symlink_to("way/../" * 3 + "way")
    assert job_files.is_folder(f"{output_folder}/way")
    with pytest.raises(ForeignFileError, match="folders deep"):
        job_files.is_folder(f"{output_folder}/ways")
    assert job_files.cost.steps < 4000


def test_search_of_many_files_is_cheap(job_files: JobFiles, work: WorkFolder) -> None:
    folder = Path(work.path, "out", "many")
    folder.mkdir(parents=True)
    for number in range(1000):
        (folder / f"{number}.dat").touch()
    assert len(matching_paths(f"{work.path}/out/*/*.dat", job_files)) == 1000
    assert job_files.cost.steps < 2000
    assert job_files.cost.paths < 2000


@pytest.mark.parametrize("wrap", [dict, wrap_in_workflow], ids=["alone", "in a workflow"])
def test_links_into_the_same_folder_fail_the_job_and_free_the_slot(
    runner: Runner, root: Path, wrap: Callable[[Any], Any]
) -> None:
    files = {"type": "File", "outputBinding": {"glob": "*/*/*/*/*/*/*/zz"}}
    process = make_python_tool(
        "import os\nfor n in range(20): os.symlink('.', f'l{n}')", outputs={"o": files}
    )
    file = write_input(root / "in" / "a.dat")
    error_class, message = get_error(run(runner, make_task(root, wrap(process)), [file]))
    assert error_class is ErrorClass.TOOL_REFUSED, message
    assert "output 'o' cannot be taken: finding '*/*/*/*/*/*/*/zz' and what came" in message
    assert run(runner, make_task(root, SHA), [file]).outcome is AttemptOutcome.FINISHED
