"""Test of warm workers whose script is an input."""

import sys
from pathlib import Path

from sluice.contracts.jobs.needs import Resources, Warm
from sluice.storage import find_local_path
from tests.unit.pilot.attempts import run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner

#: Prints the number of its requests and the arguments.
SCRIPT = """
from sluice.warm import serve
served = []
def main(arguments):
    served.append(arguments)
    print(len(served), *arguments)
serve(main)
"""


def test_input_script_runs_as_a_warm_worker_of_its_interpreter(runner: Runner, root: Path) -> None:
    """Arguments of the script do not go to the interpreter. Another script has its own process,
    also with the same name."""
    executable = make_tool([sys.executable, "-u"], arguments=["-B", "$(inputs.f)", "word"])
    warm = make_task(root, executable, warm=Warm(kind="a"), resources=Resources(time_limit=60))
    cold = make_task(root, executable, resources=Resources(time_limit=60))
    script, other = (
        write_input(root / folder / "script.py", data=(SCRIPT + more).encode())
        for folder, more in (("one", ""), ("two", "#"))
    )
    invocations = [(warm, script), (warm, script), (warm, other), (cold, other), (warm, script)]
    reports = [run(runner, of, [file], seq=n) for n, (of, file) in enumerate(invocations)]
    outputs = [
        Path(find_local_path(report.outputs[0].url) or "").read_text().strip() for report in reports
    ]
    assert outputs == ["1 word", "2 word", "1 word", "1 word", "1 word"]
