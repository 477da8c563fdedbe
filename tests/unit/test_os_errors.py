"""What the operating system refused is told without Python's numbers."""

from pathlib import Path

import pytest
import typer

from sluice.cli.errors import plain_errors
from sluice.os_errors import reason_of, sentence_of


def test_a_refusal_names_the_file_and_the_reason(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(FileNotFoundError) as refused:
        missing.read_text()
    assert sentence_of(refused.value) == f"{missing}: No such file or directory"
    assert reason_of(refused.value) == "No such file or directory"
    assert reason_of(ValueError("seven")) == "seven"


def test_both_names_of_a_move_are_told(tmp_path: Path) -> None:
    with pytest.raises(OSError) as refused:  # noqa: PT011 - the kind depends on the file system
        (tmp_path / "a\udcff").rename(tmp_path / "b")
    told = sentence_of(refused.value)
    assert told.endswith(": No such file or directory")
    assert f" to {tmp_path / 'b'}: " in told
    assert "a\\udcff" in told, "a name that is not UTF-8 can be printed"


def test_commands_show_no_error_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        plain_errors((tmp_path / "missing").read_text)
    said = "".join(capsys.readouterr().err.split())
    assert said.endswith("missing:Nosuchfileordirectory")
    assert "Errno" not in said
