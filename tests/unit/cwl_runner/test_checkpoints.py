"""Checkpoints of tools under the CWL runner."""

from typing import Any

import pytest
from schema_salad.exceptions import ValidationException

from sluice.contracts.jobs.checkpoints import Checkpoint
from sluice.cwl import compile_template
from sluice.cwl_runner.checkpoints import add_checkpoint, read_checkpoint
from sluice.cwl_runner.template import InvocationNeeds

FIELD = "urn:sluice:cwl:checkpoint"
CHECKPOINT = Checkpoint(files=["state/*", "a'b"], every=30)


def test_jobs_of_an_invocation_keep_the_checkpoint_of_their_tool() -> None:
    result = compile_template(add_checkpoint(CHECKPOINT, InvocationNeeds()).text, name="t")
    assert result.plan is not None, result.errors
    [step] = result.plan.steps
    assert step.needs.checkpoint == CHECKPOINT
    assert add_checkpoint(None, InvocationNeeds()) == InvocationNeeds()
    assert add_checkpoint(CHECKPOINT, InvocationNeeds()).name != InvocationNeeds().name


def test_checkpoint_is_read_with_and_without_prefixed_keys() -> None:
    assert read_checkpoint({}, "tool t") is None
    plain = {FIELD: {"files": ["state/*"], "every": 2}}
    prefixed = {FIELD: {"urn:sluice:cwl:files": ["state/*"], "urn:sluice:cwl:every": 2}}
    expected = Checkpoint(files=["state/*"], every=2)
    assert read_checkpoint(plain, "tool t") == read_checkpoint(prefixed, "tool t") == expected


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (True, "is a mapping; sluice:checkpoint: {files"),
        ({"files": ["/etc/*"]}, "leaves the folder"),
        ({"files": ["a"], "every": 0}, "every: Input should be greater than or equal to 1"),
    ],
)
def test_wrong_checkpoint_is_reported(written: Any, message: str) -> None:
    with pytest.raises(ValidationException, match="tool t: 'sluice:checkpoint'") as error:
        read_checkpoint({FIELD: written}, "tool t")
    assert message in str(error.value)
