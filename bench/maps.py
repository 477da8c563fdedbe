"""Benchmark of three small maps over many files, beside one map and other systems.

The others are cwltool and, if installed, StreamFlow and Snakemake. All outputs of the last map are
kept.
"""

import asyncio
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.chain_run import FinishedChain, carry_through, make_files
from bench.cwltool import seconds_of_cwltool
from bench.result import BenchResult
from bench.system import fresh_system
from sluice.cli.connection import connected
from sluice.cli.transfer.results import fetch_results

MAPS = 3
#: Seconds after which a peer is given up.
LONGEST = 300.0

_WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{files: "File[]"}}
outputs: {{turned: {{type: "File[]", outputSource: map{last}/out}}}}
steps:
{maps}"""

_STEP = """\
  map{number}:
    scatter: file
    in: {{file: {source}}}
    out: [out]
    run:
      class: CommandLineTool
      baseCommand: [tr, a-y, b-z]
      requirements: {{ToolTimeLimit: {{timelimit: 60}}, ResourceRequirement: {{ramMin: 16}}}}
      inputs: {{file: File}}
      outputs: {{out: stdout}}
      stdin: $(inputs.file.path)
      stdout: $(inputs.file.basename)
"""

_SNAKEFILE = """\
import os

rule all:
    input: [f"map{last}/{{name}}" for name in sorted(os.listdir("map0"))]
"""

_RULE = """
rule map{number}:
    input: "map{before}/{{name}}"
    output: "map{number}/{{name}}"
    shell: "tr a-y b-z < {{input}} > {{output}}"
"""


def bench_maps(files: int = 2000) -> BenchResult:
    """Measure jobs per second.

    Sluice, on a running system, is measured from the request until the last output is on the output
    storage. The others are measured from the command to its end, with as many jobs at a time as
    there are cores. All must produce the same files.
    """
    with tempfile.TemporaryDirectory(prefix="sluice-bench-maps-") as folder:
        root = Path(folder)
        inputs = make_files(root / "in", files)
        expected = _digests(path.read_bytes().translate(_turns()) for path in inputs)
        with fresh_system() as (url, _):
            asyncio.run(carry_through(url, _workflow(1), inputs[:20], name="bench-maps"))
            single = asyncio.run(carry_through(url, _workflow(1), inputs, name="bench-maps"))
            carried = asyncio.run(carry_through(url, _workflow(MAPS), inputs, name="bench-maps"))
            asyncio.run(_fetch(url, carried, root / "sluice"))
        _require_same("Sluice", root / "sluice", expected)
        seconds = {"cwltool --parallel": _cwltool(inputs, root)}
        left_out: dict[str, str] = {}
        _require_same("cwltool", root / "cwltool", expected)
        for name, run in (("streamflow", _streamflow), ("snakemake", _snakemake)):
            program = shutil.which(name)
            if program is None:
                left_out[name] = "not installed"
                continue
            try:
                taken, outputs = run(program, inputs, root / name)
            except subprocess.TimeoutExpired:
                left_out[name] = f"longer than {LONGEST:.0f} s"
                continue
            _require_same(name, outputs, expected)
            seconds[name] = taken
    jobs = MAPS * files
    rates = {name: jobs / taken for name, taken in seconds.items()}
    rate, best = jobs / carried.seconds, max(rates, key=lambda name: rates[name])
    rates["Sluice, one map"] = files / single.seconds
    return BenchResult(
        name="maps",
        value=rate,
        unit="jobs/s",
        target="3 x the best of the others, and the rate of one map",
        peers=rates,
        ratio=rate / rates[best],
        details={
            "files": files,
            "maps": MAPS,
            "seconds": round(carried.seconds, 2),
            "the best of the others": best,
            "ratio to one map": round(rate / rates["Sluice, one map"], 3),
            **left_out,
        },
    )


def _workflow(maps: int) -> str:
    steps = "".join(
        _STEP.format(number=number, source=f"map{number - 1}/out" if number > 1 else "files")
        for number in range(1, maps + 1)
    )
    return _WORKFLOW.format(maps=steps, last=maps)


def _turns() -> bytes:
    """Return the combined translation of each byte by all maps."""
    one = bytes(byte + 1 if byte in range(ord("a"), ord("z")) else byte for byte in range(256))
    turned = bytes(range(256))
    for _ in range(MAPS):
        turned = turned.translate(one)
    return turned


def _digests(contents: Iterable[bytes]) -> list[str]:
    return sorted(hashlib.sha256(content).hexdigest() for content in contents)


def _require_same(runner: str, folder: Path, expected: Sequence[str]) -> None:
    found = _digests(path.read_bytes() for path in folder.rglob("file-*") if path.is_file())
    if found != expected:
        raise AssertionError(f"{runner} gave {len(found)} files that are not those expected")


async def _fetch(url: str, carried: FinishedChain, folder: Path) -> None:
    async with connected(url) as connection:
        await fetch_results(connection, carried.chain, folder)


def _cwltool(inputs: Sequence[Path], root: Path) -> float:
    return seconds_of_cwltool(_workflow(MAPS), inputs, root, "--parallel")


def _streamflow(program: str, inputs: Sequence[Path], folder: Path) -> tuple[float, Path]:
    folder.mkdir()
    (folder / "workflow.cwl").write_text(_workflow(MAPS))
    given = {"files": [{"class": "File", "location": str(path)} for path in inputs]}
    (folder / "order.yml").write_text(json.dumps(given))
    of_cwl = {"type": "cwl", "config": {"file": "workflow.cwl", "settings": "order.yml"}}
    said = {
        "version": "v1.0",
        "workflows": {"maps": of_cwl},
        "database": {"type": "default", "config": {"connection": ":memory:"}},
    }
    (folder / "streamflow.yml").write_text(json.dumps(said))
    command = [program, "run", "streamflow.yml", "--outdir", "out", "--quiet"]
    return _seconds_of(command, folder), folder / "out"


def _snakemake(program: str, inputs: Sequence[Path], folder: Path) -> tuple[float, Path]:
    folder.mkdir()
    shutil.copytree(inputs[0].parent, folder / "map0")
    rules = "".join(_RULE.format(number=number, before=number - 1) for number in range(1, MAPS + 1))
    (folder / "Snakefile").write_text(_SNAKEFILE.format(last=MAPS) + rules)
    command = [program, "--cores", str(os.cpu_count()), "--quiet", "all"]
    return _seconds_of(command, folder), folder / f"map{MAPS}"


def _seconds_of(command: Sequence[str], folder: Path) -> float:
    """Return the seconds of a command.

    Raises:
        subprocess.TimeoutExpired: It exceeded ``LONGEST``, and was killed with its children.
    """
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=LONGEST)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        sys.stderr.write(said[-2000:])
        raise AssertionError(f"{command[0]} ended with exit code {process.returncode}")
    return time.perf_counter() - started
