"""People store and use assets, with a real pilot."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import interrupt_run, run_sluice, write_texts
from tests.e2e.systems import LiveSystem
from tests.waiting import Gate

pytestmark = pytest.mark.xdist_group("e2e-command")

SPELL = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {{sluice: "urn:sluice:cwl:"}}
sluice:bind: {{config: "asset:spelling"}}
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{texts: "File[]", config: Directory}}
outputs: {{said: {{type: "File[]", outputSource: late/said}}}}
steps:
  wait:
    scatter: text
    in: {{text: texts}}
    out: [passed]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, ': < {gate}; cat "$0"']
      arguments: [$(inputs.text)]
      inputs: {{text: File}}
      outputs: {{passed: {{type: stdout}}}}
      stdout: passed.txt
      requirements: {{ToolTimeLimit: {{timelimit: 120}}}}
  late:
    scatter: text
    in: {{text: wait/passed, config: config}}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.text), $(inputs.config.path)/config.ini, $(inputs.config.path)/words/cs]
      inputs: {{text: File, config: Directory}}
      outputs: {{said: {{type: stdout}}}}
      stdout: said.txt
      requirements: {{ToolTimeLimit: {{timelimit: 120}}}}
"""


def test_running_chain_keeps_its_version_and_a_new_chain_gets_the_new_one(
    system: LiveSystem, tmp_path: Path
) -> None:
    gate, workflow = Gate(tmp_path / "gate"), tmp_path / "spell.cwl"
    workflow.write_text(SPELL.format(gate=gate))
    url = ("--url", system.url)
    put_asset(system, tmp_path / "files", "strict\n", "slovo\n")
    inputs = ["-i", *write_texts(tmp_path / "in", "text")]
    early, _ = interrupt_run(str(workflow), *inputs, "--out", str(tmp_path / "early"), *url)
    put_asset(system, tmp_path / "files", "lenient\n", "kniha\n")
    in_use = list_uses(system)[-1]["version"]["dataset_uid"]
    output = run_sluice("asset", "remove", "spelling@1", "--yes", *url).stdout
    assert f"version 1 stays as long as chain {early} runs" in " ".join(output.split())
    refused = run_sluice("dataset", "delete", in_use, "--force", "--yes", *url, code=1)
    assert "sluice asset remove spelling@VERSION" in " ".join(refused.stderr.split())
    gate.open()
    run_sluice("run", str(workflow), *inputs, "--out", str(tmp_path / "late"), *url)
    run_sluice("chain", "watch", early, *url)
    run_sluice("chain", "get", early, "--out", str(tmp_path / "early"), *url)
    assert (tmp_path / "early/said.txt").read_text() == "text\nstrict\nslovo\n"
    assert (tmp_path / "late/said.txt").read_text() == "text\nlenient\nkniha\n"
    assert [len(use["chains"]) for use in list_uses(system)] == [1, 1]


CHECK = """\
cwlVersion: v1.2
class: CommandLineTool
baseCommand: [grep, -q, "^strict"]
arguments: [$(inputs.config.path)/config.ini]
inputs: {config: Directory}
outputs: []
requirements: {ToolTimeLimit: {timelimit: 60}}
"""


def test_check_of_an_asset_is_applied_to_later_versions(system: LiveSystem, tmp_path: Path) -> None:
    """The check runs before each version until another one is given, unless a person skips it."""
    (tmp_path / "check.cwl").write_text(CHECK)
    (folder := tmp_path / "files").mkdir()
    config, url = folder / "config.ini", ("--url", system.url)

    def put_with_check(text: str, *options: str, code: int = 0) -> str:
        config.write_text(text)
        done = run_sluice("asset", "put", "checked", str(folder), *options, *url, code=code)
        return done.stdout + done.stderr

    put_with_check("strict 1\n", "--check", str(tmp_path / "check.cwl"))
    (tmp_path / "check.cwl").unlink()
    refused = put_with_check("lenient\n", code=1)
    assert "check.cwl does not accept these files, and nothing was stored" in refused
    assert "checking with check.cwl" in put_with_check("strict 2\n")
    assert "checking" not in put_with_check("lenient\n", "--no-check")
    assert "nothing was stored" in put_with_check("free\n", code=1), (
        "the skipped check is still stored"
    )
    (tmp_path / "any.cwl").write_text(CHECK.replace("^strict", "."))
    put_with_check("free\n", "--check", str(tmp_path / "any.cwl"))
    assert "checking with any.cwl" in put_with_check("free 2\n")
    versions = json.loads(run_sluice("asset", "show", "checked", "--json", *url).stdout)["versions"]
    assert [use["version"]["check"]["name"] for use in versions] == [
        *["any.cwl"] * 2,
        *["check.cwl"] * 3,
    ]


def list_uses(system: LiveSystem) -> list[dict[str, Any]]:
    """Return the uses of each version, the newest first."""
    versions = run_sluice("asset", "show", "spelling", "--json", "--url", system.url).stdout
    uses: list[dict[str, Any]] = json.loads(versions)["versions"]
    return uses


def put_asset(system: LiveSystem, folder: Path, config: str, words: str) -> None:
    (folder / "words").mkdir(parents=True, exist_ok=True)
    (folder / "config.ini").write_text(config)
    (folder / "words/cs").write_text(words)
    run_sluice("asset", "put", "spelling", str(folder), "--url", system.url)
