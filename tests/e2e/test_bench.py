"""Each benchmark measures something: a table, and as its last line one JSON object."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.systems import NO_CONTAINERS

pytestmark = pytest.mark.xdist_group("e2e-bench")

DEARER = pytest.mark.long("one of them shows how they are all called and what they print")

SLUICE = str(Path(sys.executable).parent / "sluice")


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["check", "--steps", "2"], id="check"),
        pytest.param(["cwl-runner", "--rounds", "1"], id="cwl-runner", marks=DEARER),
        pytest.param(["flow", "--files", "64", "--rounds", "1"], id="flow", marks=DEARER),
        pytest.param(["latency", "--rounds", "1"], id="latency", marks=DEARER),
        pytest.param(["maps", "--files", "20"], id="maps", marks=DEARER),
        pytest.param(["merge", "--files", "10"], id="merge", marks=DEARER),
        pytest.param(
            ["ocr", "--pages", "8", "--rounds", "1"],
            id="ocr",
            marks=[
                pytest.mark.long("pero-ocr and torch are 1.5 GB, which `make test` does without"),
                pytest.mark.xdist_group("pero-ocr"),
            ],
        ),
        pytest.param(["size", "--files", "100", "--files", "120"], id="size", marks=DEARER),
        pytest.param(
            ["stragglers", "--jobs", "40", "--rounds", "1"], id="stragglers", marks=DEARER
        ),
        pytest.param(["warm", "--files", "60", "--rounds", "1"], id="warm", marks=DEARER),
    ],
)
def test_a_benchmark_measures_both(options: list[str]) -> None:
    environment = os.environ | NO_CONTAINERS
    done = subprocess.run(
        [SLUICE, "bench", *options],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *table, line = done.stdout.splitlines()
    result = json.loads(line)
    assert result["name"] == options[0]
    assert table[0].strip() == options[0]
    assert result["value"] > 0
    assert all(peer > 0 for peer in result["peers"].values())
    assert result["ratio"] > 0
