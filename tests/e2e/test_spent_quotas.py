"""Attempts return the unused rest of a quota, and waiting jobs use it."""

import json
from pathlib import Path

import pytest

from tests.e2e.commands import run_sluice, write_texts
from tests.e2e.systems import LiveSystem

pytestmark = pytest.mark.xdist_group("e2e-command")

#: Each job reserves 24 of the quota and spends 11, however it ends.
WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs: {answers: {type: "File[]", outputSource: ask/answer}}
steps:
  ask:
    scatter: text
    in: {text: texts}
    out: [answer]
    sluice:resources: {spent-places: 24}
    sluice:boundary: {minimum: 0.5, sufficient: 1.0}
    sluice:retry: {attempts: 1}
    run:
      class: CommandLineTool
      baseCommand: [sh, -c]
      arguments:
        - |
          printf '{"spent-places": 11}' > sluice.spent.json
          if grep -q fails "$0"; then exit 3; fi
          if grep -q killed "$0"; then kill -9 $$; fi
          cp "$0" answer.json
        - $(inputs.text)
      inputs: {text: File}
      outputs: {answer: {type: File, outputBinding: {glob: "*.json"}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
"""


def test_unused_rest_of_a_quota_is_available_to_the_next_job(
    system: LiveSystem, tmp_path: Path
) -> None:
    workflow = tmp_path / "places.cwl"
    workflow.write_text(WORKFLOW)
    texts = write_texts(tmp_path / "in", "answers", "fails", "is killed", "comes last")
    out, where = tmp_path / "out", ("--url", system.url)
    # Three jobs spend 33, so that 24 are left for the last one only if each returns its rest.
    run_sluice("limit", "set", "spent-places", "57/day", *where)
    run_sluice("run", str(workflow), "--input", *texts, "--out", str(out), *where)
    answers = [path.read_text() for path in out.glob("*.json") if path.name != "manifest.json"]
    assert sorted(answers) == ["answers\n", "comes last\n"]
    [limit] = [
        each
        for each in json.loads(run_sluice("limit", "list", "--json", *where).stdout)["limits"]
        if each["name"] == "spent-places"
    ]
    assert limit["used"] == 44
    run_sluice("limit", "remove", "spent-places", "--yes", *where)
