"""Latency of an idle system: data set closed → first job starts; a job of a step ends → that of the
next step which reads its file starts, there being a free core for it."""

import asyncio
import tempfile
from datetime import datetime
from pathlib import Path
from statistics import median
from uuid import UUID

from sluice.bench.cwltool import seconds_of_cwltool
from sluice.bench.result import BenchResult, percentile
from sluice.bench.system import fresh_system
from sluice.cli.connection import Connection, connected
from sluice.cli.transfer.upload import upload_files
from sluice.cli.watch.chain import chain_of, follow_chain
from sluice.contracts.datasets import NewDataset
from sluice.contracts.templates import NewTemplate

WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
sluice:match: {kind: bench-latency}
requirements:
  ScatterFeatureRequirement: {}
inputs:
  files: File[]
outputs:
  copies: {type: "File[]", outputSource: second/copy}
steps:
  first:
    scatter: file
    in: {file: files}
    out: [copy]
    run: &tool
      class: CommandLineTool
      baseCommand: cat
      requirements: {ToolTimeLimit: {timelimit: 60}}
      inputs:
        file: {type: File, inputBinding: {position: 1}}
      outputs:
        copy: {type: stdout}
      stdout: copy.txt
  second:
    scatter: file
    in: {file: first/copy}
    out: [copy]
    run: *tool
"""


def bench_latency(rounds: int = 40) -> BenchResult:
    """Median and 99th percentile over ``rounds`` data sets of four files, and as many of one file
    for what goes from step to step, one after the other, matched by the intake."""
    with tempfile.TemporaryDirectory(prefix="sluice-bench-latency-") as folder:
        files = [Path(folder) / f"{number}.txt" for number in range(4)]
        for path in files:
            path.write_text(path.name)
        with fresh_system() as (url, _):
            starts, waits = asyncio.run(_measure(url, files, rounds))
            _, steps = asyncio.run(_measure(url, files[:1], rounds))
        peer = seconds_of_cwltool(WORKFLOW, files[:1], Path(folder))
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
            "the same, four files on the cores that there are, median ms": round(
                1000 * median(waits), 1
            ),
            "data sets of each kind": rounds,
        },
    )


async def _measure(url: str, files: list[Path], rounds: int) -> tuple[list[float], list[float]]:
    """Seconds from a data set's closing to its first job, and from each job to its reader."""
    starts: list[float] = []
    steps: list[float] = []
    async with connected(url) as connection:
        await connection.operator.store_template(NewTemplate(name="bench-latency", cwl=WORKFLOW))
        for number in range(-2, rounds):  # the first two load tools and caches
            name = f"latency-{len(files)}-{number + 2}"
            new = NewDataset(name=name, meta={"kind": "bench-latency"})
            dataset = await upload_files(connection, files, dataset=new)
            chain = await chain_of(connection, dataset.uid)
            chain = await follow_chain(connection, chain, on_look=lambda chain, tasks: None)
            if number < 0 or dataset.closed_at is None:
                continue
            first, second = [await _spans(connection, step.task_uid) for step in chain.steps]
            begun = min(start for start, _ in first.values())
            starts.append((begun - dataset.closed_at).total_seconds())
            steps += [(second[seq][0] - first[seq][1]).total_seconds() for seq in second]
    return starts, steps


async def _spans(connection: Connection, task: UUID | None) -> dict[int, tuple[datetime, datetime]]:
    """Start and end of each job of a task, by number."""
    if task is None:
        raise ValueError("the step was never started")
    found = {}
    for job in (await connection.operator.jobs(task)).jobs:
        [attempt] = (await connection.operator.job(job.id)).attempts
        if attempt.started_at is None or attempt.ended_at is None:
            raise ValueError(f"job {job.id} was never started")
        found[job.seq] = (attempt.started_at, attempt.ended_at)
    return found
