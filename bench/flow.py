"""Benchmark of dataflow scheduling, beside the same steps with barriers between them.

The chain has maps and a merge in groups. A few of the files take long.
"""

import asyncio
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.chain_run import FinishedChain, run_template
from bench.intermediate_files import IntermediateFileCounter
from bench.result import BenchResult
from bench.system import fresh_system
from sluice.clientkit.connection import connected
from sluice.contracts.templates.templates import NewTemplate
from sluice.servicekit.running.lifecycle import cancel_and_wait

MAPS, PARALLEL_JOBS, GROUP_SIZE = 5, 64, 10
#: Seconds of a job, the percentage of long jobs, and the factor by which they take longer.
JOB_SECONDS, LONG_JOB_PERCENT, SLOWDOWN = 0.3, 2, 20

_STEP = """\
  map{number}:
    scatter: file
    in: {{file: {source}}}
    out: [out]
    BARRIER
    run:
      class: CommandLineTool
      baseCommand:
      - sh
      - -c
      - read -r {names} < "$1"; sleep "$s{number}"; cat "$1" > out.txt
      - sh
      requirements:
        ResourceRequirement: {{coresMin: 1, ramMin: 16}}
        ToolTimeLimit: {{timelimit: 600}}
      inputs: {{file: {{type: File, inputBinding: {{position: 1}}}}}}
      outputs: {{out: {{type: File, outputBinding: {{glob: out.txt}}}}}}
"""

_WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {{sluice: "urn:sluice:cwl:"}}
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{files: "File[]"}}
outputs: {{parts: {{type: File, outputSource: merge/part}}}}
steps:
{maps}\
  merge:
    in: {{files: map{last}/out}}
    out: [part]
    sluice:merge: {{files: {group}}}
    BARRIER
    run:
      class: CommandLineTool
      baseCommand: cat
      requirements:
        ResourceRequirement: {{coresMin: 1, ramMin: 16}}
        ToolTimeLimit: {{timelimit: 600}}
      inputs: {{files: {{type: "File[]", inputBinding: {{position: 1}}}}}}
      outputs: {{part: stdout}}
      stdout: part.txt
"""


@dataclass(frozen=True, slots=True)
class _ChainTimes:
    """The times of a chain in seconds, and the files between its maps.

    ``total`` is the time to the end, and ``first`` the time to the first file of the last map.
    ``intermediate_files`` is the maximum number of files between maps.
    """

    total: float
    first: float
    intermediate_files: int


def bench_flow(files: int = 500, rounds: int = 3) -> BenchResult:
    """Measure the time to the end: medians of ``rounds`` rounds in which both variants take turns.

    All rounds use one running system, the same files and the same times.
    """
    with (
        tempfile.TemporaryDirectory(prefix="sluice-bench-flow-") as folder,
        fresh_system("--pilots", "1", "--slots", str(PARALLEL_JOBS)) as (url, _),
    ):
        inputs = _write_files(Path(folder), files)
        _run_chain(url, inputs[:PARALLEL_JOBS], barriers=True)  # starts the slots
        streamed, with_barriers_times = list[_ChainTimes](), list[_ChainTimes]()
        for _ in range(rounds):
            streamed.append(_run_chain(url, inputs, barriers=False))
            with_barriers_times.append(_run_chain(url, inputs, barriers=True))
        minimum = _compute_minimum(inputs)
    total, with_barriers = (
        median(one.total for one in times) for times in (streamed, with_barriers_times)
    )
    return BenchResult(
        name="flow",
        value=total,
        unit="s",
        target="0.7 x with barriers; the last map's first file after 2.5 s",
        peers={"with barriers": with_barriers},
        ratio=total / with_barriers,
        details={
            "files": files,
            "maps, then a merge in groups": MAPS,
            "jobs at a time": PARALLEL_JOBS,
            "the last map's first file, s": round(median(one.first for one in streamed), 2),
            "the same, with barriers": round(median(one.first for one in with_barriers_times), 2),
            "most intermediate files at the same time": max(
                one.intermediate_files for one in streamed
            ),
            "the same, with barriers (intermediate files)": max(
                one.intermediate_files for one in with_barriers_times
            ),
            "ratios of the rounds": [
                round(one.total / two.total, 3)
                for one, two in zip(streamed, with_barriers_times, strict=True)
            ],
            "lower bound of a round, s": round(minimum, 1),
        },
    )


def _write_files(folder: Path, files: int) -> list[Path]:
    """Make files that say how long they take in each of the maps."""
    chooser = random.Random(5)  # noqa: S311 - the same every time
    paths = [folder / f"file-{number:05d}.txt" for number in range(files)]
    for path in paths:
        times = [
            JOB_SECONDS * (SLOWDOWN if chooser.randrange(100) < LONG_JOB_PERCENT else 1)
            for _ in range(MAPS)
        ]
        path.write_text(" ".join(f"{seconds:g}" for seconds in times) + "\n")
    return paths


def _compute_minimum(inputs: Sequence[Path]) -> float:
    """Return the seconds that the tools sleep, divided by the number of slots."""
    return sum(float(word) for path in inputs for word in path.read_text().split()) / PARALLEL_JOBS


def _build_workflow(*, barriers: bool) -> str:
    names = " ".join(f"s{number}" for number in range(1, MAPS + 1))
    maps = "".join(
        _STEP.format(
            number=number, source=f"map{number - 1}/out" if number > 1 else "files", names=names
        )
        for number in range(1, MAPS + 1)
    )
    text = _WORKFLOW.format(maps=maps, last=MAPS, group=GROUP_SIZE)
    return text.replace("    BARRIER\n", "    sluice:flow: dataset\n" if barriers else "")


def _run_chain(url: str, inputs: Sequence[Path], *, barriers: bool) -> _ChainTimes:
    name = "bench-flow-barriers" if barriers else "bench-flow"
    new = NewTemplate(name=name, cwl=_build_workflow(barriers=barriers))
    return asyncio.run(_run_and_watch(url, new, inputs))


async def _run_and_watch(url: str, new: NewTemplate, inputs: Sequence[Path]) -> _ChainTimes:
    # Files of the last map wait until a group of the merge is full, so they are not counted.
    counter = IntermediateFileCounter([f"map{number}" for number in range(1, MAPS)])
    watching = asyncio.create_task(counter.watch(url))
    try:
        finished_chain = await run_template(url, new, inputs, on_look=counter.set_chain)
    finally:
        await cancel_and_wait(watching)
    return _ChainTimes(
        finished_chain.seconds, await _find_first_file_time(url, finished_chain), counter.maximum
    )


async def _find_first_file_time(url: str, finished_chain: FinishedChain) -> float:
    """Return the seconds from the chain's beginning until the last map wrote its first file."""
    async with connected(url) as connection:
        [task] = [step.task_uid for step in finished_chain.chain.steps if step.name == f"map{MAPS}"]
        if task is None:
            raise ValueError("the last map was never started")
        jobs = (await connection.operator.list_jobs(task, limit=1000, full=True)).jobs
    return min(
        (job.started_at - finished_chain.chain.created_at).total_seconds() + (job.seconds or 0.0)
        for job in jobs
        if job.started_at is not None
    )
