"""Benchmark of real jobs, beside ``xargs`` and ``cwltool``.

The jobs run ``sha256sum`` on many small files. A merge follows.
"""

import asyncio
import subprocess
import tempfile
import time
from pathlib import Path

from bench.chain_run import FinishedChain, make_files, read_output, run_workflow
from bench.cwltool import time_cwltool
from bench.result import BenchResult
from bench.system import fresh_system

WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
inputs:
  files: File[]
outputs:
  sums: {type: File, outputSource: join/sums}
steps:
  checksum:
    scatter: file
    in: {file: files}
    out: [sum]
    run:
      class: CommandLineTool
      baseCommand: sha256sum
      requirements: {ToolTimeLimit: {timelimit: 60}}
      inputs:
        file: {type: File, inputBinding: {position: 1}}
      outputs:
        sum: {type: stdout}
      stdout: $(inputs.file.basename).sha256
  join:
    in: {parts: checksum/sum}
    out: [sums]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      requirements: {ToolTimeLimit: {timelimit: 600}}
      inputs:
        parts: File[]
      outputs:
        sums: {type: stdout}
      stdout: all.sha256
"""


def bench_jobs(files: int = 2000) -> BenchResult:
    """Measure jobs per second from the request to the merged output on the output storage.

    The system runs and the data set is registered. Tools run in the pilots' sandbox, and for
    comparison without it.
    """
    with tempfile.TemporaryDirectory(prefix="sluice-bench-jobs-") as folder:
        root = Path(folder)
        inputs = make_files(root / "in", files)
        finished_chain, sums = _run_chain(inputs, sandbox="required")
        unsandboxed_chain, _ = _run_chain(inputs, sandbox="off")
        expected = _run_xargs(inputs, root / "xargs")
        cwltool = time_cwltool(WORKFLOW, inputs, root, "--parallel")
        if _extract_checksums(sums) != _extract_checksums(expected[1]):
            raise AssertionError("the merged output differs from what xargs made of the same files")
    rates = {
        "without the sandbox": files / unsandboxed_chain.seconds,
        "cwltool --parallel": files / cwltool,
        "xargs -P2": files / expected[0],
    }
    rate = files / finished_chain.seconds
    return BenchResult(
        name="jobs",
        value=rate,
        unit="jobs/s",
        target="3 x cwltool --parallel, 0.75 x without the sandbox",
        peers=rates,
        ratio=rate / rates["cwltool --parallel"],
        details={
            "files": files,
            "seconds": round(finished_chain.seconds, 2),
            "ratio to without the sandbox": round(rate / rates["without the sandbox"], 3),
            "registering the files took, seconds": round(finished_chain.registered, 2),
        },
    )


def _run_chain(inputs: list[Path], *, sandbox: str) -> tuple[FinishedChain, str]:
    """Return the times and the merged output of a separate system with a sandbox setting."""
    with fresh_system(SLUICE_PILOT_SANDBOX=sandbox) as (url, _):
        # The pilots first load the tool and their caches on a small data set, as in a running
        # system.
        asyncio.run(run_workflow(url, WORKFLOW, inputs[:20], name="bench-jobs"))
        finished_chain = asyncio.run(run_workflow(url, WORKFLOW, inputs, name="bench-jobs"))
        return finished_chain, asyncio.run(read_output(url, finished_chain))


def _extract_checksums(text: str) -> list[str]:
    """Return the checksums in order, without the names, which depend on the runner."""
    return [line.split()[0] for line in text.splitlines()]


def _run_xargs(inputs: list[Path], folder: Path) -> tuple[float, str]:
    folder.mkdir()
    names = "\n".join(path.name for path in inputs)
    command = ["xargs", "-P2", "-n1", "sh", "-c", f'sha256sum "$0" > {folder}/"$0".sha256']
    started = time.perf_counter()
    subprocess.run(command, input=names, text=True, check=True, cwd=inputs[0].parent)
    text = "".join((folder / f"{path.name}.sha256").read_text() for path in inputs)
    (folder / "all").write_text(text)
    return time.perf_counter() - started, text
