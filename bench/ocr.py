"""Benchmark of document OCR with warm workers: pages per second of two pilots.

The peers are a plain loop of two processes that writes the same files, and the same tools started
for each page.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from bench.chain_run import FinishedChain, run_template
from bench.result import BenchResult
from bench.system import fresh_system
from sluice.clientkit.connection import connected
from sluice.clientkit.template_files import read_template_files
from sluice.clientkit.transfer.assets import collect_files, put_asset
from sluice.clientkit.transfer.results import fetch_results
from sluice.contracts.common.problems import NotAvailable

#: One for each of two cores.
PILOTS = 2
#: By the asset that the workflow takes them from.
CONFIGURATIONS = {"ocr-layout": "layout", "ocr-model": "ocr"}
#: As in the tools: libraries would start a thread for each core.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def bench_ocr(pages: int = 40, rounds: int = 5, started_anew: int = 6) -> BenchResult:
    """Measure medians of ``rounds`` rounds, in which both variants take turns.

    The system runs, and tools and loop are loaded. ``started_anew`` is the number of pages for the
    run without ``sluice:warm``.

    Raises:
        NotAvailable: pero-ocr is not installed.
    """
    if find_spec("pero_ocr") is None:
        raise NotAvailable("pero-ocr is not installed: install it with `make ocr`")
    with tempfile.TemporaryDirectory(prefix="sluice-bench-ocr-") as folder:
        bench = _Bench(Path(folder))
        scans = bench.draw(pages)
        options = ("--pilots", str(PILOTS), "--slots", "1")
        with fresh_system(*options) as (url, _):
            asyncio.run(bench.put_configurations(url))
            bench.run_chain(url, scans[: 4 * PILOTS])  # loads the tools on both pilots
            both = [(bench.run_chain(url, scans), bench.run_loop(scans)) for _ in range(rounds)]
            bench.compare(url, both[-1][0])
            cold_run = bench.run_chain(url, scans[:started_anew], warm=False)
    warm_rate = median(pages / finished_chain.seconds for finished_chain, _ in both)
    loop_rate = median(pages / seconds for _, seconds in both)
    cold_rate = min(started_anew, pages) / cold_run.seconds
    return BenchResult(
        name="ocr",
        value=warm_rate,
        unit="pages/s",
        target="0.90 x the plain loop",
        peers={
            f"plain loop of {PILOTS} processes": loop_rate,
            "tools started for each page": cold_rate,
        },
        ratio=warm_rate / loop_rate,
        details={
            "pages": pages,
            "rounds": rounds,
            "ratios of the rounds": [
                round(seconds / finished_chain.seconds, 3) for finished_chain, seconds in both
            ],
            "ratio to tools started for each page": round(warm_rate / cold_rate, 1),
        },
    )


@dataclass(frozen=True, slots=True)
class _Bench:
    """The files of the benchmark in ``folder``: two copies of the pack, scans, results."""

    folder: Path

    def draw(self, pages: int) -> list[Path]:
        """Make both copies of the pack, and return the drawn scans."""
        for name in ("warm", "cold"):
            _run_program("ocr-pack", str(self.folder / name))
        workflow = self.folder / "cold" / "workflow.cwl"
        lines = workflow.read_text().splitlines(keepends=True)
        workflow.write_text("".join(line for line in lines if "sluice:warm" not in line))
        scans = self.folder / "scans"
        _run_program("ocr-scans", "--out", str(scans), "--pages", str(pages), "--seed", "21")
        return sorted(scans.iterdir())

    async def put_configurations(self, url: str) -> None:
        """Store the configurations as assets."""
        async with connected(url) as connection:
            for name, part in CONFIGURATIONS.items():
                files = collect_files([self.folder / "warm" / "config" / part])
                await put_asset(connection, name, files, note="of the pack")

    def run_chain(self, url: str, scans: Sequence[Path], *, warm: bool = True) -> FinishedChain:
        """Run scans through the workflow, with or without warm workers."""
        name = "warm" if warm else "cold"
        files = read_template_files([self.folder / name / "workflow.cwl"])
        return asyncio.run(run_template(url, files.new(f"bench-ocr-{name}"), scans))

    def run_loop(self, scans: Sequence[Path]) -> float:
        """Return the loop's seconds to the last file, after loading and a first page."""
        config, out = self.folder / "warm" / "config", self.folder / "loop"
        options = [
            "--layout-config",
            str(config / "layout"),
            "--ocr-config",
            str(config / "ocr"),
            "--processes",
            str(PILOTS),
            "--warm-up",
            "--out",
            str(out),
            "--summary",
            str(self.folder / "summary.json"),
        ]
        _run_program("ocr-plain-loop", *map(str, scans), *options)
        return float(json.loads((self.folder / "summary.json").read_text())["seconds"])

    def compare(self, url: str, finished_chain: FinishedChain) -> None:
        """Check that the system and the loop have read the same text.

        Raises:
            AssertionError: The texts differ.
        """
        out = self.folder / "out"
        asyncio.run(_fetch(url, finished_chain, out))
        if (out / "volume.txt").read_bytes() != (self.folder / "loop/volume.txt").read_bytes():
            raise AssertionError("the system and the loop have read different texts")


async def _fetch(url: str, finished_chain: FinishedChain, out: Path) -> None:
    async with connected(url) as connection:
        await fetch_results(connection, finished_chain.chain, out)


def _run_program(name: str, *arguments: str) -> None:
    program = Path(sys.executable).with_name(name)
    subprocess.run(
        [program, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | ONE_THREAD,
    )
