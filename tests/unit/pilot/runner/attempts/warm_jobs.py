"""Warm tools that run the code of their input, and jobs of them."""

from pathlib import Path
from typing import Any

from sluice import warm
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.needs import Resources, Warm
from sluice.contracts.pilots.leases import PilotTask
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.pilot.attempts import run
from tests.unit.pilot.builders import TOOL_PYTHON, make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner

#: Runs the code in each job's input. ``served`` has the arguments of all jobs so far. The source of
#: ``serve`` is part of it, because slot users may not be able to read this checkout.
OBEYS = f"""{Path(warm.__file__).read_text()}
import time, subprocess; served = []
def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
def main(arguments):
    served.append(arguments)
    scope = dict(globals(), path=arguments[0], result=None)
    exec(open(arguments[0]).read(), scope)
    return scope["result"]
serve(main)
"""

#: Implements the protocol itself and runs the code in its argument for each request.
RAW = """
import json, os, sys, time
assert "--persistent_worker" in sys.argv, "started for one job"
requests = 0
for line in sys.stdin:
    request = json.loads(line)
    requests += 1
    def answer(**fields):
        print(json.dumps({"requestId": request["requestId"], **fields}), flush=True)
    exec(sys.argv[1])
"""

NUMBER = "print(len(served))"


class WarmJobs:
    """Run jobs of one warm tool."""

    def __init__(self, runner: Runner, root: Path) -> None:
        self.runner, self.root, self.number = runner, root, 0

    def task(
        self, *, warm: Warm | None = None, resources: Resources | None = None, **fields: Any
    ) -> PilotTask:
        executable = make_tool([TOOL_PYTHON, "-c", OBEYS], arguments=["$(inputs.f.path)"], **fields)
        return make_task(
            self.root,
            executable,
            warm=warm or Warm(kind="a"),
            resources=resources or Resources(time_limit=60),
        )

    def file(self, code: str, *, folder: str = "in") -> InputFile:
        self.number += 1
        return write_input(self.root / folder / f"{self.number}.txt", data=code.encode())

    def run(self, warm_task: PilotTask, code: str = NUMBER) -> AttemptReport:
        return run(self.runner, warm_task, [self.file(code)], seq=self.number)

    def run_and_read(self, warm_task: PilotTask, code: str = NUMBER) -> str:
        """Run a job and return its standard output, which is its output file."""
        return read_output(self.run(warm_task, code))


def read_output(report: AttemptReport) -> str:
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return Path(report.outputs[0].url.removeprefix("file://")).read_text().strip()


def make_raw_task(jobs: WarmJobs, code: str, **resources: Any) -> PilotTask:
    executable = make_tool([TOOL_PYTHON, "-c", RAW, code])
    request = Resources(**{"time_limit": 60, **resources})
    return make_task(jobs.root, executable, warm=Warm(kind="a"), resources=request)
