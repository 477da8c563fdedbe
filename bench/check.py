"""Benchmark of the check of a large template, correct and wrong, beside cwltool's validation."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.result import BenchResult
from sluice.cwl import compile_template

#: The number of measurements of which the median counts.
ROUNDS = 5

_HEAD = """\
cwlVersion: v1.2
class: Workflow
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{files: "File[]"}}
outputs: {{last: {{type: "File[]", outputSource: s{last}/made}}}}
steps:
"""
_STEP = """\
  s{number}:
    scatter: file
    in: {{file: {source}}}
    out: [made]
    run:
      class: CommandLineTool
      baseCommand: cat
      requirements: {{ToolTimeLimit: {{timelimit: 60}}}}
      inputs: {{file: {{type: File, inputBinding: {{}}}}}}
      outputs: {{made: stdout}}
"""


def bench_check(steps: int = 40) -> BenchResult:
    """Measure the check of a template with ``steps`` steps.

    It measures the seconds from the text to its plan, or to all findings, in a warm process, and
    the seconds of the whole command.
    """
    text = build_template(steps)
    faulty_text = text.replace("baseCommand", "baseComand")
    _time_check(build_template(1), findings=0)
    value = median(_time_check(text, findings=0) for _ in range(ROUNDS))
    faulty_seconds = median(_time_check(faulty_text, findings=steps) for _ in range(ROUNDS))
    command, cwltool = (
        _time_command("sluice", "template", "check", text=text),
        _time_command("cwltool", "--validate", text=text),
    )
    return BenchResult(
        name="check",
        value=value,
        unit="s",
        target="<= 1 s for 40 steps, right or wrong",
        peers={"cwltool --validate, command to its end": cwltool},
        ratio=command / cwltool,
        details={
            "steps": steps,
            f"wrong in each step ({steps} findings), s": round(faulty_seconds, 2),
            "sluice template check, command to its end, s": round(command, 2),
        },
    )


def build_template(steps: int) -> str:
    """Return a sequence of maps, each with its own tool."""
    sources = ["files", *(f"s{number}/made" for number in range(steps))]
    return _HEAD.format(last=steps - 1) + "".join(
        _STEP.format(number=n, source=sources[n]) for n in range(steps)
    )


def _time_check(text: str, *, findings: int) -> float:
    started = time.perf_counter()
    compiled = compile_template(text, name="bench")
    seconds = time.perf_counter() - started
    if len(compiled.errors) != findings:
        raise AssertionError(
            f"{len(compiled.errors)} findings, not {findings}: {compiled.errors[:3]}"
        )
    return seconds


def _time_command(name: str, *arguments: str, text: str) -> float:
    """Return the seconds of a command, the median of three runs."""
    program = shutil.which(name, path=str(Path(sys.executable).parent)) or name
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "template.cwl")
        path.write_text(text)
        return median(_run_timed([program, *arguments, str(path)]) for _ in range(3))


def _run_timed(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started
