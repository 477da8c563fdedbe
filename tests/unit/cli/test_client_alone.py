"""Commands name the packages that a client-only installation lacks."""

import subprocess
import sys

import pytest

#: Makes Python treat a package as not installed.
WITHOUT = """
import sys
sys.modules[{missing!r}] = None
sys.argv = ["sluice", *{arguments!r}]
from sluice.cli.__main__ import main
main()
"""


def run_to_end(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [
        ("yaml", ["simulate", "docs/scenarios/ocr-measured.yaml"]),
        ("ruamel", ["template", "check", "templates/spd/workflow.cwl"]),
        ("uvloop", ["up"]),
        ("psutil", ["cwl-runner", "templates/spd/workflow.cwl"]),
    ],
)
def test_command_names_the_package_that_is_not_installed(
    missing: str, arguments: list[str]
) -> None:
    code = WITHOUT.format(missing=missing, arguments=arguments)
    ended = run_to_end(code)
    assert ended.returncode == 1
    assert ended.stderr.strip() == (
        f"error: sluice {arguments[0]} needs the Python package {missing!r}, which an installation"
        " for clients alone does not have: install sluice[services,pilot]"
    )


def test_missing_module_of_sluice_gives_a_traceback() -> None:
    code = WITHOUT.format(
        missing="wms.simulation.entry", arguments=["simulate", "docs/scenarios/ocr-measured.yaml"]
    )
    ended = run_to_end(code)
    assert "Traceback" in ended.stderr
