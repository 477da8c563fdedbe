"""Tests of where the tool of a job finds its files."""

import os
from pathlib import Path
from typing import Any

import pytest

from pilot.folders.dotless_alias import DotlessAlias
from pilot.folders.work_folder import WorkFolder
from pilot.runner.cwl.file_access import InPlaceMapper
from pilot.runner.files.job_files import JobFiles


@pytest.fixture
def job_files(tmp_path: Path) -> JobFiles:
    work = WorkFolder(f"{os.path.realpath(tmp_path)}/slot", DotlessAlias(str(tmp_path), "own"))
    return JobFiles(work.folders, set())


def write_file(job_files: JobFiles, name: str, **fields: Any) -> dict[str, Any]:
    path = Path(job_files.folder, "in", name)
    path.write_text(name)
    return {"class": "File", "location": path.as_uri(), "basename": name, **fields}


def list_mapped_paths(job_files: JobFiles, *files: dict[str, Any]) -> list[str]:
    """Return where the tool finds the files and their secondary files."""
    mapper = InPlaceMapper(job_files, list(files), job_files.folder, f"{job_files.folder}/in")
    parts = [part for file in files for part in (file, *file.get("secondaryFiles", ()))]
    return [mapper.mapper(part["location"]).target for part in parts]


def test_tool_finds_files_under_their_own_names_where_they_are(job_files: JobFiles) -> None:
    index = write_file(job_files, "a.txt.idx")
    text = write_file(job_files, "a.txt", secondaryFiles=[index])
    folder = f"{job_files.folder}/in"
    assert list_mapped_paths(job_files, text) == [f"{folder}/a.txt", f"{folder}/a.txt.idx"]


def test_tool_finds_a_renamed_file(job_files: JobFiles) -> None:
    (place,) = list_mapped_paths(job_files, write_file(job_files, "a.txt", basename="b.txt"))
    assert os.path.basename(place) == "b.txt"


def test_tool_finds_a_renamed_secondary_file_beside_its_file(job_files: JobFiles) -> None:
    note = write_file(job_files, "note", basename="a.txt.note")
    text, secondary_path = list_mapped_paths(
        job_files, write_file(job_files, "a.txt", secondaryFiles=[note])
    )
    assert os.path.basename(text) == "a.txt"
    assert secondary_path == f"{text}.note"
