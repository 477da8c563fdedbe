"""Benchmark of the latency of an idle system.

It measures the time from the closing of a data set to its first job. It also measures the time from
the end of a job to the start of the downstream job that reads its file, with a core free for it.
"""

import asyncio
import tempfile
from pathlib import Path
from statistics import median
from uuid import UUID

from bench.cwltool import time_cwltool
from bench.result import BenchResult, percentile
from bench.system import fresh_system
from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.transfer.upload import upload_files
from sluice.clientkit.watch.chain import follow_chain, wait_for_chain
from sluice.contracts.chains.chains import Chain
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.templates import NewTemplate

#: Seconds after which a downstream step is ready to stream files.
_STREAMING_DELAY = 0.5

_TOOL = """\
      class: CommandLineTool
      baseCommand: [COMMAND]
      requirements: {ToolTimeLimit: {timelimit: 60}}
      inputs:
        file: File
      outputs:
        begun: {type: stdout}
      stdout: begun.txt
"""
_WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
sluice:match: {kind: bench-latency-SECONDS}
requirements:
  ScatterFeatureRequirement: {}
inputs:
  files: File[]
outputs:
  first: {type: "File[]", outputSource: first/begun}
  second: {type: "File[]", outputSource: second/begun}
steps:
  first:
    scatter: file
    in: {file: files}
    out: [begun]
    run:
FIRST_TOOL
  second:
    scatter: file
    in: {file: first/begun}
    out: [begun]
    run:
SECOND_TOOL
"""


def bench_latency(rounds: int = 40) -> BenchResult:
    """Measure medians and 99th percentiles over ``rounds`` data sets, one after the other.

    The first part uses data sets of four files. The part from step to step uses half as many data
    sets of one file. The intake matches them, and tools report when they begin.
    """
    with tempfile.TemporaryDirectory(prefix="sluice-bench-latency-") as folder:
        files = [Path(folder) / f"{number}.txt" for number in range(4)]
        for path in files:
            path.write_text(path.name)
        with fresh_system() as (url, _):
            starts, _ = asyncio.run(_measure(url, files, rounds))
            _, steps = asyncio.run(_measure(url, files[:1], rounds // 2 or 1, _STREAMING_DELAY))
        peer = time_cwltool(build_workflow(0), files[:1], Path(folder))
    value = 1000 * median(starts)
    return BenchResult(
        name="latency",
        value=value,
        unit="ms",
        target="median <= 50 ms, p99 <= 250 ms",
        peers={"cwltool, command to its end with one file": 1000 * peer},
        ratio=value / (1000 * peer),
        details={
            "closed -> first job starts, p99 ms": round(1000 * percentile(starts, 0.99), 1),
            "a job -> that of the next step, median ms": round(1000 * median(steps), 1),
            "a job -> that of the next step, p99 ms": round(1000 * percentile(steps, 0.99), 1),
            "data sets": [rounds, rounds // 2 or 1],
        },
    )


async def _measure(
    url: str, files: list[Path], rounds: int, seconds: float = 0
) -> tuple[list[float], list[float]]:
    """Return the seconds from closing to the first job, and from each job to its downstream job.

    ``seconds`` is the time that jobs of the first step take.
    """
    kind = f"bench-latency-{seconds:g}"
    starts: list[float] = []
    steps: list[float] = []
    async with connected(url) as connection:
        await connection.operator.store_template(
            NewTemplate(name=kind, cwl=build_workflow(seconds))
        )
        for number in range(-2, rounds):  # the first two load tools and caches
            new = NewDataset(name=f"{kind}-{number + 2}", meta={"kind": kind})
            dataset = await upload_files(connection, files, dataset=new)
            chain = await wait_for_chain(connection, dataset.uid)
            chain = await follow_chain(connection, chain, on_look=lambda chain, tasks: None)
            if number < 0 or dataset.closed_at is None:
                continue
            first, second = [
                await _list_start_times(connection, chain, step.name) for step in chain.steps
            ]
            ended = await _list_end_times(connection, chain.steps[0].task_uid)
            starts.append(min(first.values()) - dataset.closed_at.timestamp())
            steps += [second[seq] - ended[seq] for seq in second]
    return starts, steps


def build_workflow(seconds: float) -> str:
    """Return a workflow whose first tools take ``seconds`` after they have begun."""
    tools = {
        "FIRST_TOOL\n": _TOOL.replace("COMMAND", f"sh, -c, date +%s.%N; sleep {seconds:g}"),
        "SECOND_TOOL\n": _TOOL.replace("COMMAND", "date, +%s.%N"),
        "SECONDS": f"{seconds:g}",
    }
    text = _WORKFLOW
    for place, value in tools.items():
        text = text.replace(place, value)
    return text


async def _list_start_times(connection: Connection, chain: Chain, step: str) -> dict[int, float]:
    """Return the times at which the jobs of a step began, as they report it, by number."""
    [output] = [dataset.uid for dataset in chain.datasets if dataset.step == step and dataset.port]
    times = {}
    async for file in connection.operator.iterate_files(output):
        async with connection.operator.stream_content(file) as answer:
            times[file.seq] = float(await answer.aread())
    return times


async def _list_end_times(connection: Connection, task: UUID | None) -> dict[int, float]:
    """Return the times at which the results of a task's jobs were known, by number."""
    if task is None:
        raise ValueError("the step was never started")
    times = {}
    for job in (await connection.operator.list_jobs(task)).jobs:
        [attempt] = (await connection.operator.get_job(job.id)).attempts
        if attempt.ended_at is None:
            raise ValueError(f"job {job.id} has never ended")
        times[job.seq] = attempt.ended_at.timestamp()
    return times
