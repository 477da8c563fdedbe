"""Benchmark of warm workers, beside the same tool started for each job.

Sluice and, if installed, HyperQueue start the tool for each job. There are two tools: a native
program that starts within milliseconds, and a Python program whose imports take as long as torch.
"""

import asyncio
import json
import statistics
import tempfile
from pathlib import Path

from bench.chain_run import make_files, run_workflow
from bench.hyperqueue import is_installed, time_hyperqueue
from bench.result import BenchResult
from bench.system import fresh_system

#: Copies its input in upper case and logs it. It reads JSON with regular expressions, because a
#: parser would take longer to load than everything else.
_NATIVE = r"""
sub work {
  my ($path) = @_;
  open(my $in, "<", $path) or die "$path: $!\n";
  local $/;
  my $text = uc(<$in>);
  open(my $out, ">", "upper.txt") or die "upper.txt: $!\n";
  print $out $text;
  print STDERR "upper: ", length($text), " bytes\n";
}
if ($ARGV[-1] ne "--persistent_worker") { work($ARGV[0]); exit 0; }
$| = 1;
while (my $line = <STDIN>) {
  my ($path) = $line =~ /"arguments": \["([^"]+)"\]/;
  my ($number) = $line =~ /"requestId": (\d+)/;
  work($path);
  print "{\"exitCode\": 0, \"requestId\": $number}\n";
}
"""

#: Imports torch if it is installed, or else works for as long.
_LOADING = """
import importlib.util, sys, time
from sluice.warm import serve
if importlib.util.find_spec("torch"):
    import torch
else:
    end = time.process_time() + 1.5
    while time.process_time() < end: pass
def main(arguments):
    with open(arguments[0], "rb") as file, open("upper.txt", "wb") as out:
        out.write(file.read().upper())
    print("upper", file=sys.stderr)
serve(main)
"""

_WARM, _COLD, _HYPERQUEUE = "warm worker", "started again", "started again by HyperQueue"

_WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements: {ScatterFeatureRequirement: {}}
inputs: {files: "File[]"}
outputs: {copies: {type: "File[]", outputSource: copy/copy}}
steps:
  copy:
    scatter: file
    in: {file: files}
    out: [copy]
    WARM
    run:
      class: CommandLineTool
      baseCommand: COMMAND
      requirements: {ToolTimeLimit: {timelimit: 600}, ResourceRequirement: {ramMin: 1024}}
      inputs: {file: {type: File, inputBinding: {position: 1}}}
      outputs: {copy: {type: File, outputBinding: {glob: upper.txt}}}
"""


def _build_workflow(command: list[str], *, warm: bool) -> str:
    text = _WORKFLOW.replace("COMMAND", json.dumps(command))
    return text.replace("WARM", "sluice:warm: true" if warm else "sluice:rank: 1")


def bench_warm(files: int = 1000, rounds: int = 3) -> BenchResult:
    """Measure the median jobs per second of each variant, in turn, on a running system."""
    variants = [_WARM, _COLD, *([_HYPERQUEUE] if is_installed() else [])]
    programs = {
        "native": (["perl", "-e", _NATIVE, "--"], files),
        "torch": (["python3", "-c", _LOADING], 60),
    }
    rates: dict[tuple[str, str], list[float]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="sluice-bench-warm-") as folder,
        fresh_system() as (
            url,
            _,
        ),
    ):
        inputs = make_files(Path(folder) / "in", files)
        for number in range(rounds):
            for name, (command, job_count) in programs.items():
                for variant in variants:
                    # Variants that start slowly run fewer jobs.
                    count = (
                        job_count if variant == _WARM or name == "native" else min(job_count, 20)
                    )
                    round_inputs = inputs[:count]
                    if variant == _HYPERQUEUE:
                        place = Path(folder) / f"hyperqueue-{name}-{number}"
                        seconds = time_hyperqueue(command, round_inputs, place)
                    else:
                        seconds = _time_chain(
                            url, name, command, round_inputs, warm=variant == _WARM
                        )
                    if number or rounds == 1:  # the first round loads tools and caches
                        rates.setdefault((name, variant), []).append(count / seconds)
    return _build_result({key: statistics.median(samples) for key, samples in rates.items()}, files)


def _time_chain(url: str, name: str, command: list[str], files: list[Path], *, warm: bool) -> float:
    workflow = _build_workflow(command, warm=warm)
    chain = f"bench-{name}-{'warm' if warm else 'cold'}"
    return asyncio.run(run_workflow(url, workflow, files, name=chain)).seconds


def _build_result(median: dict[tuple[str, str], float], files: int) -> BenchResult:
    peers = [variant for variant in (_COLD, _HYPERQUEUE) if ("native", variant) in median]
    slow = {variant: round(median["torch", variant], 3) for variant in peers}
    return BenchResult(
        name="warm",
        value=median["native", _WARM],
        unit="jobs/s",
        target="1.4 x started again; 20 x where it imports torch",
        peers={variant: median["native", variant] for variant in peers},
        ratio=median["native", _WARM] / median["native", _COLD],
        details={
            "files": files,
            f"as slow to start as torch, {_WARM}, jobs/s": round(median["torch", _WARM], 2),
            **{f"the same, {variant}": rate for variant, rate in slow.items()},
            "ratio of the first two": round(median["torch", _WARM] / slow[_COLD], 1),
            **({} if _HYPERQUEUE in peers else {"HyperQueue": "not installed (pip: hyperqueue)"}),
        },
    )
