"""A person switches a pilot to a warm worker."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import run_sluice, write_texts
from tests.e2e.systems import LiveSystem
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("e2e-command")

#: Prints the process of the worker and the number of its jobs.
TOOL = """\
import itertools, os
from sluice.warm import serve
numbers = itertools.count(1)
serve(lambda arguments: print(os.getpid(), next(numbers)))
"""

NUMBERED = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {{sluice: "urn:sluice:cwl:"}}
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{texts: "File[]"}}
outputs: {{said: {{type: "File[]", outputSource: number/said}}}}
steps:
  number:
    scatter: text
    in: {{text: texts}}
    out: [said]
    sluice:warm: {{key: []}}
    run:
      class: CommandLineTool
      baseCommand: [{python}, -c, {tool}]
      arguments: [$(inputs.text)]
      inputs: {{text: File}}
      outputs: {{said: stdout}}
      stdout: $(inputs.text.nameroot).said
      requirements: {{ToolTimeLimit: {{timelimit: 60}}}}
"""


def test_pilot_loads_a_requested_tool_and_its_jobs_start_warm(
    system: LiveSystem, tmp_path: Path
) -> None:
    workflow = tmp_path / "numbered.cwl"
    workflow.write_text(NUMBERED.format(python=sys.executable, tool=json.dumps(TOOL)))
    pilot = list_pilots(system)[0]["uid"]
    refused = run_sluice("pilot", "load", pilot, "nothing", "--url", system.url, code=1)
    assert "there is no step 'nothing' in any template" in " ".join(refused.stderr.split())
    process, jobs = run_one_job(system, workflow, tmp_path / "first")
    assert jobs == "1"
    run_sluice("pilot", "load", pilot, "number", "--url", system.url)
    wait_until(
        lambda: "number" in [tool["step"] for tool in list_pilots(system)[0]["loaded"]],
        what="the pilot reports its loaded tools in a heartbeat",
    )
    shown = list_pilots(system)[0]
    assert shown["to_load"] == "number"
    assert "loaded: number" in run_sluice("pilot", "show", pilot, "--url", system.url).stdout
    assert run_one_job(system, workflow, tmp_path / "second") == [process, "2"], (
        "the job ran in the same process"
    )
    run_sluice("pilot", "load", pilot, "--url", system.url)
    assert list_pilots(system)[0]["to_load"] is None


def run_one_job(system: LiveSystem, workflow: Path, out: Path) -> list[str]:
    """Run one job; return its process and the number of jobs of the process."""
    texts = write_texts(out.with_suffix(".in"), out.name)
    run_sluice("run", str(workflow), "-i", *texts, "--out", str(out), "--url", system.url)
    [words_file] = out.glob("*.said")
    return words_file.read_text().split()


def list_pilots(system: LiveSystem) -> list[dict[str, Any]]:
    listed = run_sluice("pilot", "list", "--json", "--url", system.url).stdout
    return [{"loaded": [], **pilot} for pilot in json.loads(listed)]
