"""Jobs wait while their storage is full, people are notified, and the jobs continue."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import run_sluice, write_texts
from tests.e2e.systems import LiveSystem, run_live_system
from tests.faults.storage import SmallDisk
from tests.needs import ROOT_RIGHTS
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.long("each of its rules has a cheaper test"),
    pytest.mark.needs(ROOT_RIGHTS),
]

#: MB of the file system; bytes of a job's output, of which few fit.
DISK, OUTPUT = 24, 10_000_000

GROW = f"""\
cwlVersion: v1.2
class: Workflow
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{files: 'File[]'}}
outputs:
  sums: {{type: 'File[]', outputSource: sum/sum}}
steps:
  grow:
    in: {{file: files}}
    scatter: file
    out: [large]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, head -c {OUTPUT} /dev/urandom > large]
      inputs: {{file: File}}
      outputs: {{large: {{type: File, outputBinding: {{glob: large}}}}}}
  sum:
    in: {{file: grow/large}}
    scatter: file
    out: [sum]
    run:
      class: CommandLineTool
      baseCommand: [sha256sum]
      stdout: sum
      inputs: {{file: {{type: File, inputBinding: {{position: 1}}}}}}
      outputs: {{sum: stdout}}
"""


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    folder = Path(tempfile.mkdtemp(prefix="sluice-full-"))
    disk = SmallDisk(folder, megabytes=DISK)
    if not disk.is_full:
        pytest.fail("no file system can be mounted here", pytrace=False)
    yield disk
    disk.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def system(disk: SmallDisk) -> Iterator[LiveSystem]:
    with run_live_system("--storage-root", str(disk.folder)) as running:
        yield running


def read_json(system: LiveSystem, *words: str) -> Any:
    return json.loads(run_sluice(*words, "--home", str(system.home), "--json").stdout)


def list_notices(system: LiveSystem) -> list[str]:
    return [notice["text"] for notice in read_json(system, "attention", "list")["notices"]]


def get_full_storage(system: LiveSystem) -> str:
    listed = read_json(system, "storage", "list")
    return str(next(one.get("full", "") for one in listed if one["name"] == "small"))


def test_jobs_wait_for_free_space_and_continue(
    system: LiveSystem, disk: SmallDisk, tmp_path: Path
) -> None:
    home = ["--home", str(system.home)]
    place = disk.folder / "work"
    place.mkdir()
    run_sluice("storage", "add", "small", "intermediate", f"file://{place}", *home)
    run_sluice("storage", "disable", "embedded-intermediate", *home)
    workflow = tmp_path / "grow.cwl"
    workflow.write_text(GROW)
    ballast = disk.folder / "ballast"
    ballast.write_bytes(bytes(DISK * 2**20 - OUTPUT + 2**20))
    texts = write_texts(tmp_path / "in", "one", "two", "three", "four")
    words = ["run", str(workflow), *texts, "--out", str(tmp_path / "out"), *home]
    with subprocess.Popen(
        [sys.executable, "-m", "sluice.cli", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as run:  # fmt: skip
        wait_until(lambda: any("4 jobs wait" in text for text in list_notices(system)), seconds=60)
        (notice,) = list_notices(system)
        assert notice.startswith("Storage small is full (a job needs 10.0 MB")
        wait_until(lambda: "10.0 MB needed" in get_full_storage(system))
        ballast.unlink()
        output, _ = run.communicate()
    assert run.returncode == 0, output
    assert "grow waits: Waiting for space: storage" in output
    listed = read_json(system, "task", "list")
    (task,) = [task for task in listed if task["step"] == "grow"]
    assert task["jobs"]["rank"] == 1.0
    wait_until(lambda: not list_notices(system))
