"""The reason why a pilot ended, from its log."""

import json
from pathlib import Path

import pytest

from sluice.embedded.exit_reason import read_exit_reason


def _make_log_line(**fields: str) -> str:
    return json.dumps({"level": "error", **fields})


@pytest.mark.parametrize(
    ("lines", "code", "reason"),
    [
        (["sluice-pilot: --name: 'a/b' has '/'", ""], 2, "--name: 'a/b' has '/'"),
        ([_make_log_line(event="pilot.no_sandbox", reason="no bwrap")], 2, "no bwrap"),
        (
            [_make_log_line(event="x", exception="Traceback:\n  a\nOSError: full")],
            1,
            "OSError: full",
        ),
        ([_make_log_line(event="pilot.ended")], 1, "pilot.ended"),
        (["[1]"], 1, "[1]"),
        ([], 3, "it ended with exit code 3"),
        (["all is well"], -9, "it was killed by SIGKILL"),
    ],
)
def test_last_log_line_or_exit_code_gives_the_reason(
    tmp_path: Path, lines: list[str], code: int, reason: str
) -> None:
    log = tmp_path / "log"
    log.write_text("of an earlier start\n")
    begin = log.stat().st_size
    with log.open("a") as file:
        file.writelines(f"{line}\n" for line in lines)
    assert read_exit_reason(log, begin, code) == reason
