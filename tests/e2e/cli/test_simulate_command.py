"""`sluice simulate --from-run` replays a finished chain in simulated time, on a real system."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import interrupt_run, run_sluice, write_texts, write_workflow
from tests.e2e.systems import LiveSystem
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("e2e-command")


def test_simulation_of_a_chain_is_compared_with_its_real_duration(
    system: LiveSystem, tmp_path: Path
) -> None:
    texts = write_texts(tmp_path / "in", *"abcdef")
    workflow = write_workflow(tmp_path / "shout.cwl")
    at = ["--url", system.url, "--json"]
    chain = json.loads(
        run_sluice("run", str(workflow), "-i", *texts, "-o", str(tmp_path / "out"), *at).stdout
    )["chain"]
    times = json.loads(run_sluice("stats", chain, *at).stdout)
    totals = {step["step"]: step["working"] for step in times["steps"]}

    scenario = tmp_path / "four.yaml"
    report = json.loads(
        run_sluice(
            "simulate", "--from-run", chain, "--nodes", "4", "--write", str(scenario), *at
        ).stdout
    )
    assert report["chains"] == [chain]
    assert report["measured"] == pytest.approx(times["chains"]["mean"], abs=0.001)
    assert report["ratio"] == pytest.approx(report["same"]["end"] / report["measured"])
    for simulation in (report["same"], report["asked"]):
        worked = {kind["kind"]: kind["working"] for kind in simulation["kinds"]}
        assert {name: kind["count"] for name, kind in worked.items()} == {"shout": 6, "join": 1}
        for name, working in worked.items():
            assert working["total"] == pytest.approx(totals[name]["total"], rel=0.001)
        # The last job joins all others, and no second is counted twice.
        least = totals["shout"]["most"] + totals["join"]["most"]
        most = totals["shout"]["total"] + totals["join"]["total"]
        assert least - 0.001 <= simulation["end"] <= most + 0.001
    assert report["asked"]["end"] <= report["same"]["end"] + 0.001

    again = json.loads(run_sluice("simulate", str(scenario), "--json").stdout)
    assert again["end"] == pytest.approx(report["asked"]["end"], rel=1e-4)
    shown = run_sluice("simulate", "--from-run", chain, "--url", system.url).stdout
    assert "as it ran" in shown
    assert "simulated on the same nodes" in shown


def test_unknown_unfinished_and_empty_chains_are_refused(
    system: LiveSystem, tmp_path: Path
) -> None:
    at = ["--url", system.url]
    refused = run_sluice("simulate", "--from-run", "nobody", *at, code=1).stderr
    assert "there is no chain 'nobody'" in refused
    texts = write_texts(tmp_path / "in", "a")
    workflow = write_workflow(tmp_path / "shout.cwl")
    text = workflow.read_text().replace(
        "ToolTimeLimit:", "ResourceRequirement: {coresMin: 9999}, ToolTimeLimit:", 1
    )
    workflow.write_text(text)
    out = str(tmp_path / "out")
    chain, _ = interrupt_run(str(workflow), "-i", *texts, "-o", out, "--wait", *at)
    assert (
        "only an ended chain can be simulated"
        in run_sluice("simulate", "--from-run", chain, *at, code=1).stderr
    )
    run_sluice("chain", "cancel", chain, "--yes", *at)

    def state() -> Any:
        return json.loads(run_sluice("chain", "show", chain, *at, "--json").stdout)["state"]

    wait_until(lambda: state() == "canceled", what="the chain has been canceled")
    refused = run_sluice("simulate", "--from-run", chain, *at, code=1).stderr
    assert "has no job with a time" in " ".join(refused.split())


def test_contradictory_options_are_refused(tmp_path: Path) -> None:
    assert "name a scenario, or a chain" in run_sluice("simulate", code=2).stderr
    stderr = run_sluice("simulate", str(tmp_path / "x.yaml"), "--nodes", "2", code=2).stderr
    assert "are of a run" in stderr
