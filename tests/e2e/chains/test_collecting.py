"""Outputs of chains are collected, and a growth trigger starts a chain, on a real system."""

from pathlib import Path

import pytest

from sluice.clientkit.connection import Connection
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.states import ChainState
from tests.e2e.chains.test_rerun import run_with_connection
from tests.e2e.commands import run_sluice
from tests.e2e.systems import LiveSystem
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("e2e-command")

READ = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  pages: {type: "File[]", outputSource: read/page, sluice:collect: corpus-of-texts}
steps:
  read:
    scatter: text
    in: {text: texts}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: [tr, a-z, A-Z]
      requirements: {ToolTimeLimit: {timelimit: 60}}
      inputs: {text: File}
      stdin: $(inputs.text.path)
      outputs: {page: {type: stdout}}
      stdout: page.txt
"""
LEARN = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
sluice:match: {sluice:type: corpus-of-texts, every: {files: 4}}
inputs: {pages: "File[]"}
outputs: {all: {type: File, outputSource: join/joined}}
steps:
  join:
    in: {pages: pages}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.pages)]
      requirements: {ToolTimeLimit: {timelimit: 60}}
      inputs: {pages: "File[]"}
      outputs: {joined: {type: stdout}}
      stdout: joined.txt
"""


def test_growth_trigger_starts_a_chain_on_outputs_of_two_chains(
    system: LiveSystem, tmp_path: Path
) -> None:
    read, learn, at = tmp_path / "read.cwl", tmp_path / "learn.cwl", ("--url", system.url)
    read.write_text(READ)
    learn.write_text(LEARN)
    run_sluice("template", "upload", str(learn), *at)
    for run in ("a", "b"):
        texts = [tmp_path / f"{run}{number}.txt" for number in range(2)]
        for text in texts:
            text.write_text(f"{text.stem}\n")
        inputs, out = ("--input", *map(str, texts)), ("--out", str(tmp_path / f"out-{run}"))
        run_sluice("run", str(read), *inputs, *out, *at)
    chain = run_with_connection(system, wait_for_triggered_chain)
    run_sluice("chain", "get", str(chain.uid), "--out", str(tmp_path / "learnt"), *at)
    assert (tmp_path / "learnt" / "joined.txt").read_text() == "A0\nA1\nB0\nB1\n"
    output = run_sluice("template", "show", "learn", *at).stdout
    assert "corpus-of-texts: 0 new files of 4; 1 slice" in output


async def wait_for_triggered_chain(connection: Connection) -> Chain:
    """Return the triggered chain when it has finished."""
    chains: list[Chain] = []

    async def is_there() -> bool:
        listed = (await connection.operator.list_chains()).chains
        chains[:] = [chain for chain in listed if chain.template == "learn"]
        return [chain.state for chain in chains] == [ChainState.FINISHED]

    await eventually(is_there, what="the chain of the slice", seconds=120)
    return chains[0]
