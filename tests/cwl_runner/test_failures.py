"""`sluice cwl-runner` explains why a tool failed."""

from contextlib import closing
from pathlib import Path

import pytest

from sluice.contracts.common.states import ChainState
from sluice.cwl_runner.rest import RestConnection
from tests.cwl_runner.runners import TOOL, run_in, write_document

pytestmark = pytest.mark.xdist_group("cwl-runner")


def test_last_lines_of_a_failed_tool_are_shown(url: str, tmp_path: Path) -> None:
    script = 'i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo "line $i." >&2; done; exit 3'
    process = write_document(
        tmp_path, "counts-to-fifty.cwl", TOOL | {"baseCommand": ["sh", "-c", script]}
    )
    done = run_in(tmp_path, ["sluice-cwl-runner", "--url", url], [process], {})
    assert done.returncode == 1
    assert "'sh' ended with exit code 3" in done.stderr
    assert "  line 50.\n" in done.stderr
    assert "line 30." not in done.stderr
    with closing(RestConnection(url)) as rest:
        [chain] = [
            chain
            for chain in rest.get("/chains")["chains"]
            if chain["dataset_name"].startswith("cwl-runner-counts-to-fifty-")
        ]
        assert chain["state"] == ChainState.FAILED
        [task] = rest.get("/tasks", chain_uid=chain["uid"])["tasks"]
        [job] = rest.get(f"/tasks/{task['task_uid']}/jobs")["jobs"]
    assert f"(all of it: sluice logs {job['id']})" in done.stderr
