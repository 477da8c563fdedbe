"""`sluice run` and `sluice dataset register` with secondary files, directories and values."""

import hashlib
import json
from pathlib import Path

import pytest

from tests.e2e.commands import run_sluice
from tests.e2e.systems import LiveSystem

pytestmark = pytest.mark.xdist_group("e2e-command")

READS = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
sluice:match: {kind: reads}
requirements: {ScatterFeatureRequirement: {}}
inputs: {reads: {type: "File[]", secondaryFiles: [.idx]}}
outputs:
  trees: {type: "Directory[]", outputSource: grow/tree}
  sizes: {type: "int[]", outputSource: grow/size}
  same: {type: "File[]", outputSource: grow/same}
steps:
  grow:
    scatter: read
    in: {read: reads}
    out: [tree, size, same]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'mkdir tree && cp "$1" "$1.idx" tree/ && cp "$1" same.txt', sh]
      inputs: {read: {type: File, secondaryFiles: [.idx], inputBinding: {}}}
      outputs:
        tree: {type: Directory, outputBinding: {glob: tree}}
        size: {type: int, outputBinding: {outputEval: $(inputs.read.size)}}
        same: {type: File, outputBinding: {glob: same.txt}}
      requirements: {ToolTimeLimit: {timelimit: 60}, InlineJavascriptRequirement: {}}
"""


@pytest.fixture
def reads_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "reads"
    folder.mkdir()
    for name in ("a.txt", "bc.txt"):
        (folder / name).write_text(name.removesuffix(".txt"))
        (folder / f"{name}.idx").write_text(f"index of {name}")
    return folder


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    path = tmp_path / "reads.cwl"
    path.write_text(READS)
    return path


def test_run_takes_secondary_files_and_returns_directories_and_values(
    system: LiveSystem, workflow: Path, reads_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run_sluice(
        "run", str(workflow), "--input", str(reads_folder), "--out", str(out), "--url", system.url
    )
    manifest = json.loads((out / "manifest.json").read_text())["outputs"]
    assert {
        one["name"]: (out / one["name"]).read_text() for one in manifest if one["output"] == "trees"
    } == {
        "trees/000000/tree/a.txt": "a",
        "trees/000000/tree/a.txt.idx": "index of a.txt",
        "trees/000001/tree/bc.txt": "bc",
        "trees/000001/tree/bc.txt.idx": "index of bc.txt",
    }
    assert json.loads((out / "sizes.json").read_text()) == [1, 2]
    assert [one["name"] for one in manifest if one["output"] == "same"] == [
        "same-000000-same.txt",
        "same-000001-same.txt",
    ]
    for one in manifest:
        content = (out / one["name"]).read_bytes()
        assert (one["size"], one["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert len(manifest) == sum(path.is_file() for path in out.rglob("*")) - 1, (
        "the manifest lists all files but itself"
    )


def test_missing_secondary_file_is_reported_before_the_run_starts(
    system: LiveSystem, workflow: Path, reads_folder: Path, tmp_path: Path
) -> None:
    (reads_folder / "bc.txt.idx").unlink()
    before = json.loads(run_sluice("dataset", "list", "--json", "--url", system.url).stdout)
    done = run_sluice(
        "run",
        str(workflow),
        "--input",
        str(reads_folder),
        "--out",
        str(tmp_path / "out"),
        "--url",
        system.url,
        code=1,
    )
    assert "bc.txt: bc.txt.idx" in " ".join(done.stderr.split())
    assert json.loads(run_sluice("dataset", "list", "--json", "--url", system.url).stdout) == before


def test_data_sets_are_registered_with_the_secondary_files_of_a_template(
    system: LiveSystem, workflow: Path, reads_folder: Path
) -> None:
    run_sluice("template", "upload", str(workflow), "--url", system.url)
    command_line = [
        "dataset",
        "register",
        "some-reads",
        str(reads_folder),
        "--meta",
        "kind=other",
        "--url",
        system.url,
        "--json",
    ]
    assert json.loads(run_sluice(*command_line, "--template", "reads").stdout)["count_files"] == 2
    command_line[2] = "all-files"
    assert json.loads(run_sluice(*command_line).stdout)["count_files"] == 4
