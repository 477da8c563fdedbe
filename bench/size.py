"""Benchmark of data sets of different sizes through two steps with real pilots.

It measures the cost of a file and the memory of the processes.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.chain_run import make_files, run_workflow
from bench.latency import build_workflow
from bench.measured_system import SystemUnderTest, run_embedded_system, use_separate_processes
from bench.result import BenchResult


def bench_size(sizes: Sequence[int] = (1_000, 20_000), stack: Path | None = None) -> BenchResult:
    """Measure the milliseconds per job for each of ``sizes`` on the same system.

    The time runs from the request to the last output on the output storage. ``stack`` is the folder
    of separate processes to measure. Without it, an embedded system is started.
    """
    with (
        tempfile.TemporaryDirectory(prefix="sluice-bench-size-") as folder,
        run_embedded_system(pilots=2) if stack is None else use_separate_processes(stack) as system,
    ):
        inputs = make_files(Path(folder) / "in", max(sizes))
        _run_chain(system, inputs[:20])  # the pilots load the tool first, as in a running system
        seconds = {size: _run_chain(system, inputs[:size]) for size in sizes}
        memory = system.peak_memory()
    first, last = sizes[0], sizes[-1]
    cost = {size: 1000 * seconds[size] / (2 * size) for size in sizes}
    return BenchResult(
        name="size",
        value=cost[last],
        unit="ms per job",
        target="100 000 files at the cost per job of 1 000; <= 300 MB a service",
        peers={f"Sluice, {first} files": cost[first]},
        ratio=cost[last] / cost[first],
        details={
            "system": system.kind,
            **{f"seconds, {size} files, two jobs each": round(seconds[size], 1) for size in sizes},
            "peak MiB": {name: round(peak) for name, peak in memory.items()},
        },
    )


def _run_chain(system: SystemUnderTest, inputs: Sequence[Path]) -> float:
    return asyncio.run(
        run_workflow(system.operator, build_workflow(0), inputs, name="bench-size")
    ).seconds
