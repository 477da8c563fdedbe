"""Test of which part of its command line starts a warm worker."""

from pathlib import Path

import pytest

from pilot.runner.tools.warm_start import count_start_arguments


@pytest.mark.parametrize(
    ("command", "base", "started"),
    [
        (["python3", "{job}/in/s.py", "x"], 1, 2),
        (["/usr/bin/python3.11", "-u", "-O", "{job}/in/s.py", "x"], 2, 4),
        (["node", "{job}/out/s.py", "x"], 1, 2),
        (["spell", "{job}/in/s.py"], 1, 1),  # The script is an input of the program.
        (["python3", "tool.py", "{job}/in/s.py"], 2, 2),
        (["python3", "-m", "tool", "{job}/in/s.py"], 3, 3),
        (["python3", "-c", "print()", "{job}/in/s.py"], 2, 2),
        (["python3", "/etc/passwd"], 1, 1),
        (["python3", "{job}/in/none.py"], 1, 1),
        (["python3"], 1, 1),
    ],
)
def test_script_of_an_interpreter_belongs_to_the_start_of_the_worker(
    tmp_path: Path, command: list[str], base: int, started: int
) -> None:
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.py").touch()
    arguments = [part.format(job=tmp_path) for part in command]
    assert count_start_arguments(arguments, base, str(tmp_path)) == started
