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

from bench.chain_run import FinishedChain, make_files, run_workflow
from bench.cwltool import time_cwltool
from bench.result import BenchResult
from bench.system import fresh_system
from sluice.clientkit.connection import connected
from sluice.clientkit.transfer.results import fetch_results

MAPS = 3
#: Seconds after which a peer is stopped.
TIMEOUT = 300.0

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
        expected = _compute_digests(
            path.read_bytes().translate(_build_translation()) for path in inputs
        )
        with fresh_system() as (url, _):
            asyncio.run(run_workflow(url, _build_workflow(1), inputs[:20], name="bench-maps"))
            single = asyncio.run(run_workflow(url, _build_workflow(1), inputs, name="bench-maps"))
            finished_chain = asyncio.run(
                run_workflow(url, _build_workflow(MAPS), inputs, name="bench-maps")
            )
            asyncio.run(_fetch(url, finished_chain, root / "sluice"))
        _require_same("Sluice", root / "sluice", expected)
        seconds = {"cwltool --parallel": _time_cwltool(inputs, root)}
        skip_reasons: dict[str, str] = {}
        _require_same("cwltool", root / "cwltool", expected)
        for name, run in (("streamflow", _run_streamflow), ("snakemake", _run_snakemake)):
            program = shutil.which(name)
            if program is None:
                skip_reasons[name] = "not installed"
                continue
            try:
                elapsed, outputs = run(program, inputs, root / name)
            except subprocess.TimeoutExpired:
                skip_reasons[name] = f"longer than {TIMEOUT:.0f} s"
                continue
            _require_same(name, outputs, expected)
            seconds[name] = elapsed
    jobs = MAPS * files
    rates = {name: jobs / elapsed for name, elapsed in seconds.items()}
    rate, best = jobs / finished_chain.seconds, max(rates, key=lambda name: rates[name])
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
            "seconds": round(finished_chain.seconds, 2),
            "the best of the others": best,
            "ratio to one map": round(rate / rates["Sluice, one map"], 3),
            **skip_reasons,
        },
    )


def _build_workflow(maps: int) -> str:
    steps = "".join(
        _STEP.format(number=number, source=f"map{number - 1}/out" if number > 1 else "files")
        for number in range(1, maps + 1)
    )
    return _WORKFLOW.format(maps=steps, last=maps)


def _build_translation() -> bytes:
    """Return the combined translation of each byte by all maps."""
    one = bytes(byte + 1 if byte in range(ord("a"), ord("z")) else byte for byte in range(256))
    turned = bytes(range(256))
    for _ in range(MAPS):
        turned = turned.translate(one)
    return turned


def _compute_digests(contents: Iterable[bytes]) -> list[str]:
    return sorted(hashlib.sha256(content).hexdigest() for content in contents)


def _require_same(runner: str, folder: Path, expected_digests: Sequence[str]) -> None:
    digests = _compute_digests(
        path.read_bytes() for path in folder.rglob("file-*") if path.is_file()
    )
    if digests != expected_digests:
        raise AssertionError(
            f"{runner} gave {len(digests)} files that differ from the expected files"
        )


async def _fetch(url: str, finished_chain: FinishedChain, folder: Path) -> None:
    async with connected(url) as connection:
        await fetch_results(connection, finished_chain.chain, folder)


def _time_cwltool(inputs: Sequence[Path], root: Path) -> float:
    return time_cwltool(_build_workflow(MAPS), inputs, root, "--parallel")


def _run_streamflow(program: str, inputs: Sequence[Path], folder: Path) -> tuple[float, Path]:
    folder.mkdir()
    (folder / "workflow.cwl").write_text(_build_workflow(MAPS))
    order = {"files": [{"class": "File", "location": str(path)} for path in inputs]}
    (folder / "order.yml").write_text(json.dumps(order))
    workflow = {"type": "cwl", "config": {"file": "workflow.cwl", "settings": "order.yml"}}
    configuration = {
        "version": "v1.0",
        "workflows": {"maps": workflow},
        "database": {"type": "default", "config": {"connection": ":memory:"}},
    }
    (folder / "streamflow.yml").write_text(json.dumps(configuration))
    command = [program, "run", "streamflow.yml", "--outdir", "out", "--quiet"]
    return _time_command(command, folder), folder / "out"


def _run_snakemake(program: str, inputs: Sequence[Path], folder: Path) -> tuple[float, Path]:
    folder.mkdir()
    shutil.copytree(inputs[0].parent, folder / "map0")
    rules = "".join(_RULE.format(number=number, before=number - 1) for number in range(1, MAPS + 1))
    (folder / "Snakefile").write_text(_SNAKEFILE.format(last=MAPS) + rules)
    command = [program, "--cores", str(os.cpu_count()), "--quiet", "all"]
    return _time_command(command, folder), folder / f"map{MAPS}"


def _time_command(command: Sequence[str], folder: Path) -> float:
    """Return the seconds of a command.

    Raises:
        subprocess.TimeoutExpired: It exceeded ``TIMEOUT``, and was killed with its children.
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
            output, _ = process.communicate(timeout=TIMEOUT)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        sys.stderr.write(output[-2000:])
        raise AssertionError(f"{command[0]} ended with exit code {process.returncode}")
    return time.perf_counter() - started
