"""A job continues from its checkpoint after its pilot was killed, and the checkpoint is deleted."""

from functools import partial
from pathlib import Path

import pytest

from sluice.clientkit.connection import Connection
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.states import ChainState
from sluice.contracts.jobs.tasks import Job
from tests.e2e.chains.test_rerun import list_jobs, run_with_connection, wait_for_end
from tests.e2e.commands import interrupt_run, run_sluice, write_texts
from tests.e2e.systems import LiveSystem
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("e2e-command")

#: The tool prints how often it started; the first attempt does not end.
WORKFLOW = """\
cwlVersion: v1.2
$namespaces: {sluice: "urn:sluice:cwl:"}
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs: {all: {type: "File[]", outputSource: count/times}}
steps:
  count:
    scatter: text
    in: {text: texts}
    out: [times]
    sluice:checkpoint: {files: [state/*], every: 1}
    run:
      class: CommandLineTool
      baseCommand:
        - python3
        - -c
        - |
          import os, signal
          os.makedirs("state", exist_ok=True)
          times = len(open("state/begun").read()) + 1 if os.path.exists("state/begun") else 1
          with open("state/.new", "w") as file: file.write("x" * times)
          os.replace("state/.new", "state/begun")
          if times == 1: signal.pause()
          print("begun", times, "times")
      requirements: {ToolTimeLimit: {timelimit: 600}}
      inputs: {text: File}
      outputs: {times: {type: stdout}}
      stdout: times.txt
"""


def list_checkpoint_files(system: LiveSystem) -> list[str]:
    return [path.name for path in system.storage_files("logs") if "checkpoint" in path.name]


async def get_job(chain: Chain, connection: Connection) -> Job:
    [job] = await list_jobs(connection, chain, "count")
    return await connection.operator.get_job(job.id)


def test_job_continues_from_its_checkpoint_after_its_pilot_was_killed(
    system: LiveSystem, tmp_path: Path
) -> None:
    """Invariant 3: one attempt wins, and no files of other attempts are left."""
    workflow = tmp_path / "count.cwl"
    workflow.write_text(WORKFLOW)
    texts, out = write_texts(tmp_path / "in", "one"), tmp_path / "out"
    uid, _ = interrupt_run(str(workflow), "-i", *texts, "-o", str(out), "--url", system.url)
    wait_until(lambda: any("list" in name for name in list_checkpoint_files(system)), seconds=60)
    for number in range(len(system.pilots())):
        system.kill_a_pilot(number)
    chain = wait_for_end(system, uid)
    assert chain.state is ChainState.FINISHED
    job = run_with_connection(system, partial(get_job, chain))
    assert job.attempt == 2
    output = run_sluice("job", "show", str(job.id), "--json", "--url", system.url).stdout
    assert "resumed from the checkpoint of 20" in output
    assert "(attempt 1), 1 file, 1 bytes" in output
    wait_until(
        lambda: not list_checkpoint_files(system),
        what="the checkpoint of the job is deleted",
        seconds=60,
    )
    run_sluice("chain", "get", uid, "--out", str(out), "--url", system.url)
    assert [path.read_text() for path in out.rglob("times*.txt")] == ["begun 2 times\n"]
