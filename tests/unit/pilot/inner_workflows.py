"""Workflows with a single step around any process."""

from typing import Any


def wrap_in_workflow(
    process: dict[str, Any], *, mode: str = "File?", **step: Any
) -> dict[str, Any]:
    """Return a workflow that runs ``process`` once. ``step`` has more fields of that step."""
    return {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "requirements": [
            {"class": "StepInputExpressionRequirement"},
            {"class": "InlineJavascriptRequirement"},
        ],
        "inputs": {"f": {"type": mode}},
        "outputs": {"o": {"type": "File?", "outputSource": "run/o"}},
        "steps": {"run": {"in": {"f": {"source": "f"}}, "out": ["o"], **step, "run": process}},
    }
