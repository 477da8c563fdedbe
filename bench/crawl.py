"""Benchmark of a polite crawl of many small sites, beside plain Scrapy on the same sites.

It measures pages per second, and the cost of spiders that only wait.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import psutil

from bench.result import BenchResult
from sluice.contracts.common.problems import NotAvailable

#: The names of the programs; Sluice's first.
SLUICE_CRAWLER, PLAIN_CRAWLER = "mt-crawl", "mt-plain-crawl"
#: The factor of all delays. The first delay is half a second.
DELAY_FACTOR = 0.1
PARALLEL_SITES = 100
#: The factor of delays with which a spider waits for five minutes after robots.txt.
WAITING_DELAY_FACTOR = 60.0
#: Seconds for waiting spiders to settle, then seconds of measurement.
SETTLE_SECONDS, MEASURED_SECONDS = 5.0, 20.0


def bench_crawl(sites: int = 300, rounds: int = 3, spiders: int = 1000) -> BenchResult:
    """Measure medians of ``rounds`` rounds, in which both programs take turns.

    Raises:
        NotAvailable: Scrapy is not installed.
        AssertionError: A site was asked too early.
    """
    if find_spec("scrapy") is None or find_spec("masstimes") is None:
        raise NotAvailable("Scrapy is not installed: install the pack `masstimes` (`make packs`)")
    with tempfile.TemporaryDirectory(prefix="sluice-bench-crawl-") as folder:
        with _serve_web(Path(folder) / "sites", sites) as web:
            both = [
                (web.crawl(SLUICE_CRAWLER, turn), web.crawl(PLAIN_CRAWLER, turn))
                for turn in range(rounds)
            ]
            requests = sum(web.count_requests(turn) for turn in range(rounds))
        with _serve_web(Path(folder) / "many", spiders) as web:
            sluice_crawl, plain = (
                web.wait(SLUICE_CRAWLER, spiders),
                web.wait(PLAIN_CRAWLER, spiders),
            )
    speed, peer = (
        median(crawl.pages_per_second for crawl in each) for each in zip(*both, strict=True)
    )
    return BenchResult(
        name="crawl",
        value=speed,
        unit="pages/s",
        target=f"0.90 x plain Scrapy; {spiders} that wait: 1 core, no more memory than its own",
        peers={"plain Scrapy": peer},
        ratio=speed / peer,
        details={
            "sites": sites,
            "pages": [crawl.pages for crawl in both[0]],
            "ratios of the rounds": [
                round(a.pages_per_second / b.pages_per_second, 3) for a, b in both
            ],
            "CPU seconds of a crawl": [
                round(median(c.cpu for c in each), 1) for each in zip(*both, strict=True)
            ],
            "requests, none too early": requests,
            "KiB of a spider that waits": [
                round(each.memory / 1024, 1) for each in (sluice_crawl, plain)
            ],
            f"cores of {spiders} that wait": [
                round(each.cores, 3) for each in (sluice_crawl, plain)
            ],
        },
    )


@dataclass(frozen=True, slots=True)
class Crawl:
    """The result of a crawl. ``cpu`` is in seconds of a core."""

    pages: int
    seconds: float
    cpu: float

    @property
    def pages_per_second(self) -> float:
        """Return the pages per second."""
        return self.pages / self.seconds


@dataclass(frozen=True, slots=True)
class Waiting:
    """The cost of waiting spiders. ``memory`` is in bytes for each further spider."""

    memory: float
    cores: float


@dataclass(frozen=True, slots=True)
class _Web:
    """A small web without traps, served from ``folder``."""

    folder: Path

    def _list_parishes(self) -> list[str]:
        return sorted(map(str, (self.folder / "parishes").iterdir()))

    def crawl(self, program: str, turn: int) -> Crawl:
        """Crawl all of it, measured from the start of the process to its end."""
        out, name = self.folder / f"{program}-{turn}", f"{program}-{turn}"
        options = ("--out", str(out), "--contact", name, "--delays", str(DELAY_FACTOR))
        start = time.monotonic()
        with _run_program(
            program, *self._list_parishes(), *options, "--at-once", str(PARALLEL_SITES)
        ) as process:
            used = 0.0
            while process.poll() is None:
                used = _read_cpu_seconds(process) or used
                time.sleep(0.1)
            seconds = time.monotonic() - start
        _require(process.returncode == 0, f"{program} has failed")
        pages = sum(path.read_bytes().count(b"\n") for path in out.glob("*.jsonl"))
        return Crawl(pages, seconds, used)

    def count_requests(self, turn: int) -> int:
        """Return the number of requests, none of which came too early by the server's log.

        Raises:
            AssertionError: A request came too early.
        """
        log = str(self.folder / "requests.jsonl")
        options = ("--agent", f"(+{SLUICE_CRAWLER}-{turn})", "--delays", str(DELAY_FACTOR))
        result = subprocess.run(
            [_find_program("mt-check-delays"), log, *options],
            capture_output=True,
            text=True,
            check=False,
        )
        _require(result.returncode == 0, result.stderr)
        return int(result.stdout)

    def wait(self, program: str, spiders: int) -> Waiting:
        """Measure ``spiders`` waiting spiders, beside one."""
        alone, _ = self._measure_waiting(program, 1)
        memory, cores = self._measure_waiting(program, spiders)
        return Waiting((memory - alone) / (spiders - 1), cores)

    def _measure_waiting(self, program: str, spiders: int) -> tuple[int, float]:
        """Return the memory in bytes and the cores of the process while its spiders wait."""
        name = f"{program}-waits-{spiders}"
        options = [
            "--out",
            str(self.folder / name),
            "--contact",
            name,
            "--delays",
            str(WAITING_DELAY_FACTOR),
            "--at-once",
            str(spiders),
        ]
        with _run_program(program, *self._list_parishes()[:spiders], *options) as process:
            while self._count_visited_sites(name) < spiders:
                _require(process.poll() is None, f"{program} has ended")
                time.sleep(0.5)
            time.sleep(SETTLE_SECONDS)
            before, start = _read_cpu_seconds(process), time.monotonic()
            time.sleep(MEASURED_SECONDS)
            cores = (_read_cpu_seconds(process) - before) / (time.monotonic() - start)
            return psutil.Process(process.pid).memory_full_info().uss, cores

    def _count_visited_sites(self, name: str) -> int:
        lines = (self.folder / "requests.jsonl").read_text().splitlines()
        return len({line["host"] for line in map(json.loads, lines) if name in line["user_agent"]})


@contextmanager
def _serve_web(folder: Path, sites: int) -> Iterator[_Web]:
    options = ("--sites", str(sites), "--seed", "2", "--no-traps", "--folder", str(folder))
    with _run_program("mt-web", *options) as process:
        while not (folder / "web.json").exists():
            _require(process.poll() is None, "mt-web has ended")
            time.sleep(0.1)
        yield _Web(folder)


@contextmanager
def _run_program(program: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program for the duration of the block."""
    command = [_find_program(program), *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def _find_program(program: str) -> str:
    return str(Path(sys.executable).with_name(program))


def _read_cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """Return the CPU seconds of a process so far, or 0 if it has ended."""
    try:
        times = psutil.Process(process.pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)
