"""Periods and runs by command, on pages, and in matches and bindings of templates."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import run_sluice, write_texts
from tests.e2e.systems import LiveSystem
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("e2e-command")

WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
sluice:match: {sluice:type: raw-of-run, conditions.energy: {minimum: 20}}
sluice:bind: {energy: conditions.energy}
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]", energy: int}
outputs: {said: {type: "File[]", outputSource: say/said}}
steps:
  say:
    scatter: text
    in: {text: texts, energy: energy}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: [echo]
      arguments: [$(inputs.energy)]
      inputs: {text: File, energy: int}
      outputs: {said: stdout}
      stdout: $(inputs.text.nameroot).said
      requirements: {ToolTimeLimit: {timelimit: 60}}
"""


def test_conditions_of_a_run_choose_the_template_and_its_parameters(
    system: LiveSystem, tmp_path: Path
) -> None:
    where = ("--url", system.url)
    workflow = tmp_path / "energies.cwl"
    workflow.write_text(WORKFLOW)
    run_sluice("template", "publish", str(workflow), "--yes", *where)
    run_sluice(
        "period", "add", "2026 spring", "--goal", "first beams", "--started", "2026-03-01", *where
    )
    for run, energy in ((7, 27), (8, 9)):
        options = ("--period", "2026 spring", "-c", f"energy={energy}", "--started", "2026-03-02")
        run_sluice("detector-run", "add", str(run), *options, *where)
    texts = write_texts(tmp_path / "texts", "a")
    for run in (7, 8):
        conditions = ("--run", str(run), "--meta", "type=raw-of-run")
        run_sluice("dataset", "register", f"of-run-{run}", *texts, *conditions, *where)
    wait_until(
        lambda: "of-run-8" in run_sluice("dataset", "unmatched", "--json", *where).stdout,
        what="the data set of the run with low energy fits no template",
    )
    assert "conditions.energy" in run_sluice("dataset", "unmatched", "--json", *where).stdout
    wait_until(
        lambda: [each["state"] for each in list_chains(system)] == ["finished"],
        what="the data set of the other run is processed",
    )
    [chain] = list_chains(system)
    assert chain["params"]["energy"] == 27

    run_sluice("detector-run", "end", "7", "--at", "2026-03-03T12:00:00Z", *where)
    [ended, _] = json.loads(run_sluice("detector-run", "list", "--json", *where).stdout)
    assert ended["ended_at"] == "2026-03-03T12:00:00Z"
    early = ("--at", "2026-03-01T12:00:00Z")
    refused = run_sluice("detector-run", "end", "7", *early, *where, code=1)
    assert "before it starts" in " ".join(refused.stderr.split())
    run_sluice("period", "end", "2026 spring", "--at", "2026-06-30", *where)
    [period] = json.loads(run_sluice("period", "list", "--json", *where).stdout)
    assert (period["runs"], period["ended_at"][:7]) == (2, "2026-06")
    refused = run_sluice("period", "end", "2026 spring", "--at", "soon", *where, code=2)
    assert "'soon' is not a valid time" in " ".join(refused.stderr.split())


def list_chains(system: LiveSystem) -> list[dict[str, Any]]:
    """Return the chains of the template."""
    answer = json.loads(run_sluice("chain", "list", "--json", "--url", system.url).stdout)
    listed = answer if isinstance(answer, list) else answer["chains"]
    return [each for each in listed if each["template"] == "energies"]
