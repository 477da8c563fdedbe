"""Run expressions in a slot and return what they found."""

import json
import sys
from pathlib import Path
from typing import Any

import psutil

from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.pilots.reports import AttemptReport
from tests.processes import read_command_line
from tests.unit.pilot.attempts import run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner

LIMIT = 3.0
SECRET = "hush-hush"

#: A known escape from a context of node.js: an import fails with an error that belongs to the
#: program outside. Later expressions in the same process are then evaluated outside, with all that
#: node.js has.
BREAK_OUT = """${ import('x').catch(error => {
  const outside = error.constructor.constructor('return globalThis')();
  outside.require('vm').runInNewContext = (code) => {
    try { return outside.eval(code) } catch (e) { return 'Error: ' + e }
  };
}); return 'out'; }"""


def make_expression_tool(*expressions: str) -> dict[str, Any]:
    """Return a tool that writes the values of the expressions, one on each line."""
    javascript = [{"class": "InlineJavascriptRequirement"}]
    return make_tool(
        ["/usr/bin/printf", r"%s\n"], requirements=javascript, arguments=list(expressions)
    )


def break_out(code: str) -> list[str]:
    """Return expressions that break out and then give the value of ``code`` outside as JSON."""
    return [BREAK_OUT, "${ return JSON.stringify(" + code + "); }"]


def read_output_lines(report: AttemptReport) -> list[str]:
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return Path(report.outputs[0].url.removeprefix("file://")).read_text().splitlines()


def evaluate_outside(runner: Runner, root: Path, code: str) -> Any:
    """Return the value of ``code`` outside the context, or the text of its error."""
    answer = read_output_lines(
        run(
            runner,
            make_task(root, make_expression_tool(*break_out(code))),
            [write_input(root / "in" / "a.dat")],
        )
    )[1]
    return answer if answer.startswith("Error:") else json.loads(answer)


def list_evaluators(runner: Runner) -> list[int]:
    """Return the IDs of the processes in which the slot evaluates expressions."""
    return [
        child.pid
        for child in psutil.Process(runner.slot_pid).children()
        if read_command_line(child)[:1] not in ([], [sys.executable])
        and "pilot.isolation.sandbox.holder" not in read_command_line(child)[-1]
    ]
