"""The demonstration of mass times in small: crawl, annotations, training, second crawl."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sluice.contracts.common.states import ChainState

pytestmark = [
    pytest.mark.long("its templates, programs and page have quick tests of their own"),
    pytest.mark.xdist_group("e2e-masstimes-demo"),
]

SITES, CHEATS = 24, 2


@pytest.mark.timeout(900)
def test_demonstration_produces_a_table_and_a_second_run_uses_it(tmp_path: Path) -> None:
    home = tmp_path / "demo"
    arguments = ["--home", str(home), "--sites", str(SITES)]
    done = subprocess.run(
        [sys.executable, "-m", "masstimes.demo", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((home / "summary.json").read_bytes())
    assert summary["status"] == ChainState.FINISHED
    assert summary["parishes"] == SITES
    assert summary["cheats_found"] == CHEATS
    assert summary["second_run"] == {"fetched": 10, "changed": 10}
    assert summary["recall"] > summary["rules_alone"]["recall"]
    assert summary["answers"] >= 2 * summary["candidates"]
    assert Path(summary["table"]["path"]).read_bytes().startswith(b"PAR1")
    measures = json.loads((home / "learned" / "measures" / "measures.json").read_bytes())
    assert measures["counts"]["learned_of"]["people"] > 0
