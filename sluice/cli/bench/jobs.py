"""Real jobs: ``sha256sum`` of many small files, each output kept, then a merge; beside ``xargs`` and ``cwltool``."""

import asyncio
import random
import subprocess
import tempfile
import time
from pathlib import Path

from sluice.cli import carry
from sluice.cli.bench.cwltool import seconds_of_cwltool
from sluice.cli.bench.result import Result
from sluice.cli.bench.system import fresh_system
from sluice.cli.connect import connected
from sluice.contracts.datasets import NewDataset
from sluice.contracts.problems import ServiceError
from sluice.contracts.states import ChainState
from sluice.contracts.templates import NewTemplate

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


def bench_jobs(files: int = 2000) -> Result:
    """Jobs per second from the request to the merged output on the output storage; the system is up, the data set registered."""
    with tempfile.TemporaryDirectory(prefix="sluice-bench-jobs-") as folder:
        root = Path(folder)
        inputs = _make_files(root / "in", files)
        with fresh_system() as (url, _):
            # The pilots load the tool and their caches on a small data set first, as they have in a system that is up.
            asyncio.run(_carry(url, inputs[:20]))
            registered, seconds, sums = asyncio.run(_carry(url, inputs))
        expected = _xargs(inputs, root / "xargs")
        cwltool = seconds_of_cwltool(WORKFLOW, inputs, root, "--parallel")
        if _hashes(sums) != _hashes(expected[1]):
            raise AssertionError("the merged output differs from what xargs made of the same files")
    rates = {"cwltool --parallel": files / cwltool, "xargs -P2": files / expected[0]}
    return Result(
        name="jobs",
        value=files / seconds,
        unit="jobs/s",
        target="3 x cwltool --parallel",
        peers=rates,
        ratio=(files / seconds) / rates["cwltool --parallel"],
        details={"files": files, "seconds": round(seconds, 2), "registering the files took, seconds": round(registered, 2)},
    )


def _make_files(folder: Path, count: int) -> list[Path]:
    folder.mkdir(parents=True)
    chooser = random.Random(1)  # noqa: S311 - the content only has to differ
    paths = [folder / f"file-{number:06d}.txt" for number in range(count)]
    for path in paths:
        path.write_bytes(chooser.randbytes(1024))
    return paths


async def _carry(url: str, inputs: list[Path]) -> tuple[float, float, str]:
    """(seconds to register, seconds from the request to the end, text of the merged output)."""
    async with connected(url) as connection:
        template = await connection.operator.store_template(NewTemplate(name="bench-jobs", cwl=WORKFLOW))
        started = time.perf_counter()
        dataset = await carry.bring_in(
            connection, inputs, dataset=NewDataset(name=f"bench-{len(inputs)}", on_demand=True), on_file=lambda size: None
        )
        ready = time.perf_counter()
        chain = await connection.operator.request_chain(dataset.uid, template.name)
        chain = await carry.follow(connection, chain, on_look=lambda chain, tasks: None)
        ended = time.perf_counter()
        if chain.state is not ChainState.FINISHED:
            raise ServiceError(f"the chain ended {chain.state}: {chain.reason}")
        with tempfile.TemporaryDirectory() as folder:
            outputs = await carry.bring_out(connection, chain, template, Path(folder))
            return ready - started, ended - ready, outputs[0].path.read_text()


def _hashes(text: str) -> list[str]:
    """The sums, in order; the names beside them are each runner's own paths."""
    return [line.split()[0] for line in text.splitlines()]


def _xargs(inputs: list[Path], folder: Path) -> tuple[float, str]:
    folder.mkdir()
    names = "\n".join(path.name for path in inputs)
    command = ["xargs", "-P2", "-n1", "sh", "-c", f'sha256sum "$0" > {folder}/"$0".sha256']
    started = time.perf_counter()
    subprocess.run(command, input=names, text=True, check=True, cwd=inputs[0].parent)
    text = "".join((folder / f"{path.name}.sha256").read_text() for path in inputs)
    (folder / "all").write_text(text)
    return time.perf_counter() - started, text
