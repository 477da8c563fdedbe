"""Scenarios in simulated time: correct counts, production policies, and errors with places."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from sluice.cli.app import command_line
from sluice.contracts.jobs.simulation import PolicyName
from tests.architecture.sources import ROOT
from tests.unit.simulation.scenarios import find_kind, make_scenario
from wms.domain.placement import policy as placement_policy
from wms.domain.placement import reward_rate, watchdog
from wms.domain.scheduling import matching
from wms.simulation.entry import read_scenario, simulate
from wms.simulation.errors import InvalidScenario

SCENARIOS = ROOT / "docs/scenarios"


def test_simulation_of_one_node_equals_a_hand_computation() -> None:
    """Each item loads a (3 s), works (10 s), loads b (2 s) and works (5 s)."""
    result = simulate(make_scenario())
    assert result.passage is not None
    assert result.working is not None
    assert (result.passage.least, result.passage.most) == (20, 20)
    assert (result.working.mean, result.end) == (15, 220)
    assert [(each.loads, each.jobs) for each in result.kinds] == [(3, 3), (3, 3)]
    assert result.busy == pytest.approx(45 / 220)
    assert result.loading == pytest.approx(15 / 220)


def test_two_nodes_keep_their_loaded_tools() -> None:
    result = simulate(make_scenario(nodes=[{"name": "n", "count": 2}]))
    assert [each.loads for each in result.kinds] == [1, 1]
    assert result.passage is not None
    assert (result.passage.most, result.passage.least) == (20, 15)


def test_job_time_depends_on_speed_delay_and_size() -> None:
    """The times are (2 × 3 + 10) / 2 + 4 and 5 / 2 + 4."""
    result = simulate(
        make_scenario(
            kinds=[
                {"name": "a", "scale": 3, "difference": {"fixed": 10}},
                {"name": "b", "difference": {"fixed": 5}},
            ],
            arrivals=[{"pipeline": "p", "every": 100, "count": 3, "size": {"fixed": 2}}],
            nodes=[{"name": "n", "speed": 2, "delay": {"fixed": 4}}],
        )
    )
    assert result.passage is not None
    assert result.passage.mean == pytest.approx(12 + 6.5)


def test_job_of_a_dying_node_runs_again_on_another_node() -> None:
    """The node dies after 8 s, during the first job, which the other node starts again."""
    nodes = [
        {"name": "mortal", "speed": 1.001, "lives": {"fixed": 8}, "away": {"fixed": 500}},
        {"name": "other", "joins": 6},
    ]
    result = simulate(
        make_scenario(nodes=nodes, arrivals=[{"pipeline": "p", "every": 1, "count": 1}])
    )
    assert find_kind(result, "a").lost == 1
    assert result.finished == 1
    assert result.end == pytest.approx(8 + 3 + 10 + 2 + 5)
    assert find_kind(result, "a").waiting.mean == pytest.approx(11)


def test_job_begun_before_its_node_died_does_not_count() -> None:
    """The job starts at 6, dies at 9, and starts again at 10: it ends at 15, and b at 17."""
    result = simulate(
        make_scenario(
            until=100,
            kinds=[
                {"name": "a", "difference": {"fixed": 5}},
                {"name": "b", "difference": {"fixed": 2}},
            ],
            arrivals=[{"pipeline": "p", "every": 1, "count": 1, "begin": 6}],
            nodes=[{"name": "n", "lives": {"fixed": 9}, "away": {"fixed": 1}}],
        )
    )
    assert (result.finished, result.end, find_kind(result, "a").lost) == (1, 17, 1)


def test_nodes_get_only_kinds_that_fit_them() -> None:
    kinds = [
        {"name": "a", "difference": {"fixed": 10}, "ram": 1000},
        {"name": "b", "difference": {"fixed": 5}, "nodes": {"site": ["prague"]}},
    ]
    small = {"name": "small", "count": 9, "ram": 500, "labels": {"site": "prague"}}
    large = {"name": "large", "ram": 2000, "places": 2}
    result = simulate(make_scenario(kinds=kinds, nodes=[small, large]), with_timeline=True)
    assert result.timeline is not None
    for lane in result.timeline.lanes:
        a, b, _ = (sum(row) for row in lane.busy)
        assert not (a if lane.name.startswith("small") else b)
    with pytest.raises(InvalidScenario, match=r"kinds\.0 \(a\): no node can run it: small: needs"):
        simulate(make_scenario(kinds=kinds, nodes=[small]))


def test_timeline_agrees_with_the_totals() -> None:
    result = simulate(read_scenario(SCENARIOS / "ocr-configured.yaml"), with_timeline=True)
    assert result.timeline is not None
    assert result.timeline.steps[-1] == "loading"
    second = result.end / result.timeline.bins
    busy = sum(sum(sum(row) for row in lane.busy[:-1]) for lane in result.timeline.lanes)
    loading = sum(sum(lane.busy[-1]) for lane in result.timeline.lanes)
    assert busy * second == pytest.approx(result.busy * 2 * result.end, rel=1e-6)
    assert loading * second == pytest.approx(result.loading * 2 * result.end, rel=1e-6)
    assert all(waiting >= 0 for row in result.timeline.queues for waiting in row)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    policy=st.sampled_from(PolicyName),
    nodes=st.integers(1, 4),
    mortal=st.booleans(),
    loading=st.sampled_from([0, 1, 30]),
)
def test_each_item_passes_once_and_works_as_long_as_its_jobs(
    seed: int, policy: PolicyName, nodes: int, mortal: bool, loading: int
) -> None:
    dies = {"lives": {"lognormal": [200, 100]}, "away": {"fixed": 10}} if mortal else {}
    result = simulate(
        make_scenario(
            seed=seed,
            policy=policy,
            kinds=[
                {"name": name, "difference": {"lognormal": [10, 20]}, "loading": loading}
                for name in "ab"
            ],
            arrivals=[{"pipeline": "p", "poisson": 30, "count": 30, "pages": 2}],
            nodes=[{"name": "n", "count": nodes, "jitter": 2, **dies}],
            until=1e6,
        )
    )
    assert result.finished == result.pages == 60
    assert [each.jobs for each in result.kinds] == [60, 60]
    assert result.working is not None
    assert result.waiting is not None
    assert result.passage is not None
    jobs = sum(each.working.total for each in result.kinds if each.working is not None)
    assert result.working.total == pytest.approx(jobs)
    assert result.waiting.least >= -1e-6
    assert result.passage.mean == pytest.approx(result.waiting.mean + result.working.mean)


def test_seed_gives_the_same_items_to_each_policy() -> None:
    first = read_scenario(SCENARIOS / "ocr-measured.yaml")
    one, same = simulate(first), simulate(first)
    assert one == same
    other = simulate(first.model_copy(update={"seed": 2}))
    assert other.passage != one.passage
    watched = simulate(first.model_copy(update={"policy": PolicyName.WATCHDOG}))
    assert watched.working is not None
    assert one.working is not None
    assert watched.working.total == pytest.approx(one.working.total)


def _refuse_all(*_: object, **__: object) -> None:
    return None


@pytest.mark.parametrize(
    ("policy", "module", "name", "changed"),
    [
        (PolicyName.SLUICE, reward_rate, "MIN_RUN", 40.0),
        (PolicyName.SLUICE, reward_rate, "compute_worth", lambda kind: 1.0),
        (PolicyName.WATCHDOG, watchdog, "MIN_JOBS", 1),
        (PolicyName.WATCHDOG, watchdog, "priority", lambda kind, serving, now: kind.ready),
        (PolicyName.SLUICE, placement_policy.Kind, "learn", _refuse_all),
    ],
)
def test_simulation_uses_the_policies_of_the_product(
    monkeypatch: pytest.MonkeyPatch,
    policy: PolicyName,
    module: object,
    name: str,
    changed: Callable[..., object] | float,
) -> None:
    """A change of a policy's function changes the simulation."""
    ocr_scenario = read_scenario(SCENARIOS / "ocr-configured.yaml")
    ocr_scenario = ocr_scenario.model_copy(update={"policy": policy})
    before = simulate(ocr_scenario)
    monkeypatch.setattr(module, name, changed)
    assert simulate(ocr_scenario).passage != before.passage


def test_simulation_uses_the_matching_of_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_find_missing_amount", lambda *_, **__: "nothing fits today")
    with pytest.raises(InvalidScenario, match="no node can run it: n: nothing fits today"):
        simulate(make_scenario())


def test_disabled_kind_ends_the_simulation_unfinished() -> None:
    kinds = [
        {"name": "a", "difference": {"fixed": 10}},
        {"name": "b", "difference": {"fixed": 5}, "priority": -1},
    ]
    for policy in PolicyName:
        result = simulate(make_scenario(kinds=kinds, policy=policy))
        assert (result.finished, find_kind(result, "a").jobs, find_kind(result, "b").open) == (
            0,
            3,
            3,
        )


def test_arrivals_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("# a real run\n7.5\n\n0\n300\n")
    file_scenario = make_scenario(arrivals=[{"pipeline": "p", "file": "run.txt"}])
    result = simulate(file_scenario, folder=tmp_path)
    assert (result.pages, result.end) == (3, 320)
    (tmp_path / "run.txt").write_text("0\nsoon\n")
    with pytest.raises(InvalidScenario, match=r"run\.txt:2: 'soon' is not a number of seconds"):
        simulate(file_scenario, folder=tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pipelines": [{"name": "p", "stages": ["a", "c"]}]},
         "the whole: pipelines.0 (p): no kind is called 'c' (there are a, b)"),
        ({"arrivals": [{"pipeline": "q", "every": 1}]},
         "the whole: arrivals.0: no pipeline is called 'q' (there are p)"),
        ({"arrivals": [{"pipeline": "p", "every": 1, "poisson": 2}]},
         "arrivals.0: give one of every, poisson, load, file, table (every and poisson is given)"),
        ({"nodes": [{"name": "n", "count": 0}]}, "nodes.0.count: "),
        ({"nodes": [{"name": "n", "lives": {"fixed": 9}}]}, "nodes that die permanently require"),
        ({"nodes": [{"name": "n", "delay": {"normal": [1]}}]}, "nodes.0.delay.normal"),
        ({"nodes": [{"name": "n", "delay": {}}]}, "nodes.0.delay: give one of fixed"),
        ({"speed": 3}, "speed: Extra inputs are not permitted"),
    ],
)  # fmt: skip
def test_wrong_scenario_is_reported_with_its_place(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(
        yaml.safe_dump(make_scenario().model_dump(mode="json", exclude_none=True) | change)
    )
    result = run_command("simulate", file)
    assert result.exit_code == 2
    assert f"error: {file}: " in result.stderr
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize("text", ["a: [", "- 1", "\xff\x00"])
def test_file_without_a_scenario_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_bytes(text.encode("latin-1"))
    assert run_command("simulate", file).exit_code == 2


def run_command(*arguments: object) -> Result:
    return CliRunner().invoke(command_line("simulate"), [*map(str, arguments)])


def test_simulate_command_prints_a_report_json_and_a_diagram(tmp_path: Path) -> None:
    file, picture = SCENARIOS / "ocr-configured.yaml", tmp_path / "line.svg"
    result = run_command("simulate", file, "--seed", 3, "--policy", "watchdog", "--svg", picture)
    assert result.exit_code == 0, result.output
    assert "500 of 500 items" in result.stdout
    assert "by watchdog, seed 3" in result.stdout
    texts = {
        "".join(each.itertext())
        for each in ElementTree.fromstring(picture.read_text()).iter()  # noqa: S314 - our own
    }
    assert {"stage1", "stage2", "stage3", "loading", "node-1", "node-2"} <= texts
    report = json.loads(run_command("simulate", file, "--json").stdout)
    assert (report["policy"], report["finished"]) == ("sluice", 500)


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.yaml")), ids=lambda file: file.stem)
def test_scenarios_of_the_repository_can_be_read(file: Path) -> None:
    assert read_scenario(file).name == file.stem
    assert file.read_text().startswith("# ")


def test_reward_rate_passes_items_sooner_than_the_watchdog_under_overload() -> None:
    ocr_scenario = read_scenario(SCENARIOS / "ocr-configured.yaml")
    nodes = [ocr_scenario.nodes[0].model_copy(update={"count": 4})]
    means: dict[PolicyName, list[float]] = {each: [] for each in PolicyName}
    for policy, policy_means in means.items():
        for seed in range(3):
            changes = {"nodes": nodes, "seed": seed, "policy": policy}
            turnaround = simulate(ocr_scenario.model_copy(update=changes)).passage
            assert turnaround is not None
            policy_means.append(turnaround.mean)
    assert fmean(means[PolicyName.SLUICE]) < 0.8 * fmean(means[PolicyName.WATCHDOG])
