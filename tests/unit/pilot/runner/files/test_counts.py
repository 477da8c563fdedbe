"""Tests of counts that a tool gives with an output and that are reported with the file, in a real
slot."""

import json
from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.common.states import AttemptOutcome, EntryKind, ErrorClass
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.pilot.attempts import get_error, run
from tests.unit.pilot.builders import make_output, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.slot_runner import Runner


def make_counting_tool(counts: Any, **file: Any) -> dict[str, Any]:
    """Return a tool that names its output and its counts in an output object."""
    named = {"o": {"class": "File", "path": "x", "sluice:counts": counts, **file}}
    process = make_tool(
        ["sh", "-c", f"echo much > x; cat > cwl.output.json <<'END'\n{json.dumps(named)}\nEND\n"]
    )
    del process["stdout"]
    return process | {"outputs": {"o": "File"}}


BY_EXPRESSION = make_tool(
    ["cat"],
    requirements={"InlineJavascriptRequirement": {}},
    stdin="$(inputs.f.path)",
    outputs={
        "o": {
            "type": "File",
            "outputBinding": {
                "glob": "*.out",
                "loadContents": True,
                "outputEval": (
                    '${ self[0]["sluice:counts"] = {events: self[0].contents.length}; return'
                    " self[0]; }"
                ),
            },
        }
    },
)


def list_counts(report: AttemptReport) -> list[dict[str, int] | None]:
    assert report.outcome is AttemptOutcome.FINISHED, report
    return [file.counts for file in report.outputs]


def test_counts_are_taken_from_output_objects_and_expressions(runner: Runner, root: Path) -> None:
    file = write_input(root / "in" / "a.dat", data=b"frame")
    assert list_counts(
        run(runner, make_task(root, make_counting_tool({"events": 3, "tracks": 0})), [file])
    ) == [{"events": 3, "tracks": 0}]
    assert list_counts(run(runner, make_task(root, BY_EXPRESSION), [file])) == [{"events": 5}]
    assert list_counts(
        run(runner, make_task(root, wrap_in_workflow(make_counting_tool({"events": 4}))), [file])
    ) == [{"events": 4}], "counts of an inner workflow are reported"
    plain = run(runner, make_task(root, make_counting_tool(None)), [file])
    assert list_counts(plain) == [None]


def test_batch_entries_and_bundles_have_their_own_counts(runner: Runner, root: Path) -> None:
    files = [
        write_input(root / "in" / f"{seq}.dat", seq=seq, data=bytes(seq + 1)) for seq in range(2)
    ]
    assert list_counts(run(runner, make_task(root, BY_EXPRESSION, batch=2), files)) == [
        {"events": 1},
        {"events": 2},
    ]
    bundled = make_output(root, "o").model_copy(update={"kind": EntryKind.BUNDLE})
    assert list_counts(
        run(
            runner, make_task(root, make_counting_tool({"events": 3}), outputs=[bundled]), files[:1]
        )
    ) == [{"events": 3}]


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({"events": -1}, "events: input should be greater than or equal to 0"),
        ("many", "should be a valid dictionary"),
    ],
)
def test_invalid_counts_fail_the_job_with_a_message(
    runner: Runner, root: Path, counts: Any, reason: str
) -> None:
    error, message = get_error(
        run(
            runner,
            make_task(root, make_counting_tool(counts)),
            [write_input(root / "in" / "a.dat")],
        )
    )
    assert error is ErrorClass.TOOL_REFUSED, "another attempt would give the same counts"
    assert message.startswith("output 'o': sluice:counts")
    assert reason in message
