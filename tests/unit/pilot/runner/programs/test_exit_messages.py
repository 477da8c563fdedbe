"""Tests of the sentences that say how a program ended."""

import signal

import pytest

from pilot.runner.programs.exit_messages import describe_failure


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (3, "'sort' ended with exit code 3"),
        (-signal.SIGKILL, "'sort' was killed by SIGKILL"),
        (-signal.SIGRTMIN - 2, "'sort' was killed by SIGRTMIN+2"),
        (
            128 + signal.SIGSEGV,
            "'sort' ended with exit code 139 (what it ran was killed by SIGSEGV)",
        ),
        (129, "'sort' ended with exit code 129"),
        (255, "'sort' ended with exit code 255"),
    ],
)
def test_exit_message_has_the_exit_code_or_the_name_of_the_signal(code: int, message: str) -> None:
    assert describe_failure("sort", code, last_output="") == message
    assert describe_failure("sort", code, last_output="no space") == f"{message}: no space"
