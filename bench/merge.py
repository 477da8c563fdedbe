"""Benchmark of one job that takes a whole data set of small files, beside the tool's own time."""

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.chain_run import make_files, read_output, run_workflow
from bench.cwltool import time_cwltool
from bench.result import BenchResult
from bench.system import fresh_system

#: The number of measurements of which the median counts.
ROUNDS = 3

WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
inputs:
  files: File[]
outputs:
  joined: {type: File, outputSource: join/joined}
steps:
  join:
    in: {parts: files}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: sha256sum
      arguments: [$(inputs.parts)]
      requirements: {ToolTimeLimit: {timelimit: 600}}
      inputs:
        parts: File[]
      outputs:
        joined: {type: stdout}
      stdout: joined.txt
"""


def bench_merge(files: int = 5000) -> BenchResult:
    """Measure the overhead: seconds to the output on the output storage, less the tool's own.

    The system runs and the data set is registered.
    """
    with tempfile.TemporaryDirectory(prefix="sluice-bench-merge-") as folder:
        root = Path(folder)
        inputs = make_files(root / "in", files)
        with fresh_system() as (url, _):
            asyncio.run(run_workflow(url, WORKFLOW, inputs[:20], name="bench-merge"))
            chains = [
                asyncio.run(run_workflow(url, WORKFLOW, inputs, name="bench-merge"))
                for _ in range(ROUNDS)
            ]
            text = asyncio.run(read_output(url, chains[-1]))
        tool, expected = _run_tool(inputs)
        cwltool = time_cwltool(WORKFLOW, inputs, root)
    if [line.split()[0] for line in text.splitlines()] != expected:
        raise AssertionError("the output differs from the output of the tool alone")
    value = median(finished_chain.seconds for finished_chain in chains) - tool
    return BenchResult(
        name="merge",
        value=value,
        unit="s",
        target="<= 3 s beside the tool's own time, with 5 000 files",
        peers={"cwltool, command to its end, less the tool": cwltool - tool},
        ratio=value / (cwltool - tool),
        details={
            "files": files,
            "seconds, by round": [round(finished_chain.seconds, 2) for finished_chain in chains],
            "the tool alone, seconds": round(tool, 3),
        },
    )


def _run_tool(inputs: Sequence[Path]) -> tuple[float, list[str]]:
    """Return the seconds of the tool, and the checksums in order."""
    started = time.perf_counter()
    result = subprocess.run(["sha256sum", *inputs], check=True, capture_output=True, text=True)
    return time.perf_counter() - started, [line.split()[0] for line in result.stdout.splitlines()]
