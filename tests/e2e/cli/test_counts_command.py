"""Counts that tools report are shown with the output, and templates can require them."""

import json
from pathlib import Path

import pytest

from tests.e2e.commands import run_sluice, write_texts
from tests.e2e.systems import LiveSystem

pytestmark = pytest.mark.xdist_group("e2e-command")

WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  counted: {type: "File[]", outputSource: count/counted}
steps:
  count:
    scatter: text
    in: {text: texts}
    out: [counted]
    sluice:retry: {attempts: 2, backoff: 0}
    run:
      class: CommandLineTool
      baseCommand: [python3, SCRIPT]
      requirements: {ToolTimeLimit: {timelimit: 60}}
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {counted: File}
"""

#: Fails at the first attempt for each file; then copies the file and counts its bytes.
SCRIPT = """\
import json, pathlib, sys

text = pathlib.Path(sys.argv[1])
try:
    pathlib.Path(__file__).with_name(f"tried {text.name}").touch(exist_ok=False)
except FileExistsError:
    pathlib.Path("copy").write_bytes(text.read_bytes())
    counted = {"class": "File", "path": "copy", "sluice:counts": {"letters": text.stat().st_size}}
    pathlib.Path("cwl.output.json").write_text(json.dumps({"counted": counted}))
else:
    sys.exit(1)
"""


def test_counts_of_jobs_are_added_up_and_can_be_required(
    system: LiveSystem, tmp_path: Path
) -> None:
    workflow, script = tmp_path / "counting.cwl", tmp_path / "counting.py"
    script.write_text(SCRIPT)
    workflow.write_text(WORKFLOW.replace("SCRIPT", str(script)))
    texts = write_texts(tmp_path / "in", "one", "three", "fourteen")
    run = ["run", str(workflow), "-i", *texts, "--url", system.url, "--json"]
    summary = json.loads(run_sluice(*run, "-o", str(tmp_path / "out")).stdout)
    chain = json.loads(
        run_sluice("chain", "show", summary["chain"], "--url", system.url, "--json").stdout
    )
    [uid] = [one["uid"] for one in chain["datasets"] if one["port"] == "counted"]
    shown = json.loads(run_sluice("dataset", "show", uid, "--url", system.url, "--json").stdout)
    letters = sum(Path(text).stat().st_size for text in texts)
    assert shown["meta"]["produced"] == {"files": 3, "bytes": letters, "letters": letters}
    assert (
        f"3 files, {letters} B, {letters} letters"
        in run_sluice("dataset", "show", uid, "--url", system.url).stdout
    )
    assert len(list(tmp_path.glob("tried *"))) == 3, "each job had two attempts"
    strict_workflow = workflow.with_name("fussy.cwl")
    requirements = f"sluice:require: {{meta: {{produced.letters: {{minimum: {letters + 1}}}}}}}"
    strict_workflow.write_text(
        workflow.read_text().replace("inputs:", f"{requirements}\ninputs:", 1)
    )
    run_sluice("template", "publish", str(strict_workflow), "--yes", "--url", system.url)
    refused = run_sluice("chain", "start", uid, "fussy", "--url", system.url, code=1).stderr
    assert f"requires meta produced.letters from {letters + 1} to ∞, which is {letters}" in refused
