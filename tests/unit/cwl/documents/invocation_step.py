"""A step whose input files describe the process to run."""

# ruff: noqa: E501 (one sample a line keeps the table readable)

OPERATION = "    run:\n      class: Operation\n      requirements: {ToolTimeLimit: {timelimit: 60}}\n      inputs: {invocation: File}\n      outputs: {result: File}\n"

INVOKE = (
    "steps:\n  invoke:\n    sluice:invoke: true\n    scatter: invocation\n    in: {invocation: frames}\n    out: [result]\n"
    + OPERATION
)
