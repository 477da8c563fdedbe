"""Calls of the node's container engine."""

import subprocess

from pilot.node.engines import Engine, engine_environment
from pilot.runner.failures import AttemptError
from sluice.contracts.common.states import ErrorClass
from sluice.text.os_errors import reason_of

_TIMEOUT_SECONDS = 60.0


def call_engine(engine: Engine, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of the engine and return the result, whatever its exit status.

    Raises:
        AttemptError: The engine does not answer.
    """
    try:
        return subprocess.run(
            [engine.program, *command],
            env=engine_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        sentence = f"{engine.kind.label} does not answer on this node: {reason_of(error)}"
        raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence) from error
