"""Wrong options are explained before any request to a system."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sluice.cli.app import command_line

TOOL = """\
cwlVersion: v1.2
class: CommandLineTool
baseCommand: "true"
inputs: {}
outputs: {}
"""


def run_and_read(*arguments: str, code: int) -> str:
    environment = {"COLUMNS": "300", "SLUICE_URL": "http://127.0.0.1:9"}
    done = CliRunner().invoke(command_line(arguments[0]), list(arguments), env=environment)
    assert done.exit_code == code, done.output
    assert isinstance(done.exception, SystemExit), "the command must end without a traceback"
    return done.output


@pytest.mark.parametrize("port", ["80000", "-1"])
def test_impossible_port_is_refused(port: str, tmp_path: Path) -> None:
    output = run_and_read("up", "--home", str(tmp_path / "home"), "--port", port, code=2)
    assert "Invalid value for '--port'" in output
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dataset", "list", "--state", "bogus"), "'--state': 'bogus' is not one of 'open',"),
        (("chain", "list", "--state", "bogus"), "'finished', 'incomplete', 'failed', 'canceled'."),
        (("dataset", "list", "--state", "opne"), " (did you mean 'open'?)."),
        (("run", "--order", "nam", __file__), "'mtime' (did you mean 'name'?)."),
        (
            ("run", f"{__file__}s"),
            "test_options.pys does not exist (did you mean 'test_options.py'?)",
        ),
        (("template", "check", f"{__file__}s"), "(did you mean 'test_options.py'?)"),
        (("template", "publish", f"{__file__}s"), "(did you mean 'test_options.py'?)"),
        (("run", __file__, "--job", f"{__file__}s"), "(did you mean 'test_options.py'?)"),
        (("chain", "list", "--limit", "many"), "it should be a valid integer, not 'many'"),
        (("chain", "list", "--limit", "0"), "it should be greater than or equal to 1, not '0'"),
    ],
)
def test_wrong_option_value_is_explained_in_words(arguments: tuple[str, ...], message: str) -> None:
    output = run_and_read(*arguments, code=2)
    assert message in output
    assert "Value error" not in output


def test_invalid_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tool.cwl").write_text(TOOL)
    message = "name: 'bad name!' has '!': a name has letters"
    assert message in run_and_read(
        "template", "publish", str(tmp_path / "tool.cwl"), "--yes", "--name", "bad name!", code=1
    )
    assert message in run_and_read(
        "storage", "add", "bad name!", "input", f"file://{tmp_path}", code=1
    )


def test_invalid_address_is_refused(tmp_path: Path) -> None:
    assert "is not an absolute URL" in run_and_read(
        "storage", "add", "one", "input", "data/input", code=1
    )
    for address in ("http://host:port", "nonsense"):
        assert address in run_and_read("dataset", "list", "--url", address, code=1)
