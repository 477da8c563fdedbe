"""A tool that stays loaded, beside the same tool started anew for each job: a native program that
starts within milliseconds, and one in Python that imports what takes as long as torch."""

import asyncio
import json
import statistics
import tempfile
from pathlib import Path

from sluice.bench.chain_run import carry_through, make_files
from sluice.bench.result import BenchResult
from sluice.bench.system import fresh_system

#: Copies what it reads in upper case, and says so in its log; with regular expressions for JSON, as
#: a reader of it would take longer to load than all the rest.
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

#: torch where it is installed; else work that takes as long.
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


def _workflow(command: list[str], *, warm: bool) -> str:
    text = _WORKFLOW.replace("COMMAND", json.dumps(command))
    return text.replace("WARM", "sluice:warm: true" if warm else "sluice:rank: 1")


def bench_warm(files: int = 1000, rounds: int = 3) -> BenchResult:
    """Jobs per second of each, in turn, medians; the system is up, the data set registered."""
    programs = {
        "native": (["perl", "-e", _NATIVE, "--"], files),
        "torch": (["python3", "-c", _LOADING], 60),
    }
    rates: dict[tuple[str, bool], list[float]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="sluice-bench-warm-") as folder,
        fresh_system() as (
            url,
            _,
        ),
    ):
        inputs = make_files(Path(folder) / "in", files)
        for number in range(rounds):
            for name, (command, most) in programs.items():
                for warm in (True, False):
                    # What starts so slowly is started fewer times.
                    count = most if warm or name == "native" else min(most, 20)
                    carried = asyncio.run(
                        carry_through(
                            url,
                            _workflow(command, warm=warm),
                            inputs[:count],
                            name=f"bench-{name}-{'warm' if warm else 'cold'}",
                        )
                    )
                    if number or rounds == 1:  # the first round loads tools and caches
                        rates.setdefault((name, warm), []).append(count / carried.seconds)
    median = {key: statistics.median(found) for key, found in rates.items()}
    native = median["native", True] / median["native", False]
    slow = median["torch", True] / median["torch", False]
    return BenchResult(
        name="warm",
        value=median["native", True],
        unit="jobs/s",
        target="1.4 x started anew; 20 x where it imports torch",
        peers={"started anew": median["native", False]},
        ratio=native,
        details={
            "files": files,
            "with an import as long as torch's, loaded, jobs/s": round(median["torch", True], 2),
            "the same, started anew": round(median["torch", False], 3),
            "ratio of these": round(slow, 1),
        },
    )
