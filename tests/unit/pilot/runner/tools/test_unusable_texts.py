"""Test that texts that cannot be passed to a program are a fault of the tool."""

from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.common.states import ErrorClass
from tests.unit.pilot.attempts import get_error, run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner


@pytest.mark.parametrize(
    ("what", "fields"),
    [
        ("argument 1", {"arguments": ["${return 'a\\u0000b';}"]}),
        (
            "environment variable A",
            {"requirements": {"EnvVarRequirement": {"envDef": {"A": "${return 'a\\u0000b';}"}}}},
        ),
        ("stream stdout", {"stdout": "${return 'a\\u0000b';}", "outputs": {"o": "stdout"}}),
    ],
)
def test_text_with_a_nul_character_is_refused(
    runner: Runner, root: Path, what: str, fields: dict[str, Any]
) -> None:
    process = make_tool(["echo"], **fields)
    process["requirements"] = {"InlineJavascriptRequirement": {}, **process.get("requirements", {})}
    error_class, message = get_error(
        run(runner, make_task(root, process), [write_input(root / "in" / "a.dat")])
    )
    assert error_class is ErrorClass.TOOL_REFUSED
    assert message == f"the tool's {what} has a NUL character, which no program can be given"
