"""Results include logs and partial results of failed jobs."""

import json
from pathlib import Path

import pytest

from tests.e2e.commands import run_sluice, write_texts
from tests.e2e.systems import LiveSystem

pytestmark = pytest.mark.xdist_group("e2e-command")

#: The second step fails for texts with the word "bad".
WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs: {read: {type: "File[]", outputSource: second/read}}
steps:
  first:
    scatter: text
    in: {text: texts}
    out: [copy]
    run:
      class: CommandLineTool
      baseCommand: [tr, a-z, A-Z]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {copy: stdout}
      stdout: $(inputs.text.nameroot).copy
      requirements: {ToolTimeLimit: {timelimit: 60}}
  second:
    scatter: text
    in: {text: first/copy}
    out: [read]
    sluice:boundary: {minimum: 0.5, sufficient: 1.0}
    sluice:retry: {attempts: 1}
    run:
      class: CommandLineTool
      baseCommand: [sh, -c]
      arguments:
        - if grep -q BAD "$0"; then echo "cannot read it" >&2; exit 3; fi; cat "$0"
        - $(inputs.text)
      inputs: {text: File}
      outputs: {read: stdout}
      stdout: $(inputs.text.nameroot).read
      requirements: {ToolTimeLimit: {timelimit: 60}}
"""


def test_results_include_logs_and_partial_results_of_failed_jobs(
    system: LiveSystem, tmp_path: Path
) -> None:
    workflow = tmp_path / "two-steps.cwl"
    workflow.write_text(WORKFLOW)
    texts = write_texts(tmp_path / "in", "good", "bad", "fine")
    out = tmp_path / "out"
    where = ("--url", system.url)
    result = run_sluice(
        "run", str(workflow), "--input", *texts, "--out", str(out), "--json", *where
    )
    require_parts_of_failed_job(out)
    chain = json.loads(result.stdout)["chain"]
    run_sluice("chain", "get", chain, "--out", str(tmp_path / "again"), *where)
    require_parts_of_failed_job(tmp_path / "again")


def require_parts_of_failed_job(out: Path) -> None:
    assert sorted(path.name for path in out.glob("*.read")) == ["text 0.read", "text 2.read"]
    [folder] = (out / "failed" / "second").iterdir()
    assert folder.name.endswith("-text 1.copy")
    assert "cannot read it" in (folder / "log.txt").read_text()
    assert (folder / "text 1.copy").read_text() == "BAD\n"
    [failed] = json.loads((out / "manifest.json").read_text())["failed_jobs"]
    assert failed["step"] == "second"
