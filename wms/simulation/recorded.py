"""Builds a scenario from chains that ran: their jobs with their times, on their nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from sluice.contracts.jobs.needs import Needs
from sluice.contracts.jobs.recorded_run import RecordedJob, RecordedRun
from sluice.contracts.jobs.simulation import PolicyName, Replay
from wms.simulation.entry import simulate
from wms.simulation.files import Row, write_table
from wms.simulation.recorded_items import TimeOf, build_pipelines
from wms.simulation.recorded_nodes import ReplayNodes, build_node_groups, change_nodes
from wms.simulation.recorded_pilots import (
    RecordedPilot,
    estimate_loading_time,
    find_recorded_pilots,
)
from wms.simulation.scenario import Arrivals, KindOfWork, Pipeline, Scenario

#: If a node left during the run, the simulation ends after this many times its duration.
_PATIENCE = 100.0
_HEAD = """\
# The chains that ran: {chains}.
# It took {seconds:.3f} s. Change nodes or the policy, and run `sluice simulate` with this file.
"""


@dataclass(frozen=True, slots=True)
class RecordedScenario:
    """The scenario of recorded chains.

    Attributes:
        tables: The tables of its arrivals, by name.
        measured: Seconds that the run took.
    """

    scenario: Scenario
    tables: Mapping[str, Sequence[Row]]
    runs: Sequence[RecordedRun]
    measured: float

    def write(self, file: Path) -> None:
        """Write the scenario as YAML, with its tables beside it.

        Raises:
            OSError: A file cannot be written.
        """
        for arrivals in self.scenario.arrivals:
            if arrivals.table is not None:
                stages = next(
                    pipeline.stages
                    for pipeline in self.scenario.pipelines
                    if pipeline.name == arrivals.pipeline
                )
                write_table(file.parent / arrivals.table, stages, self.tables[arrivals.table])
        chains = ", ".join(f"chain {run.chain} ({run.name})" for run in self.runs)
        head = _HEAD.format(chains=chains, seconds=self.measured)
        document = self.scenario.model_dump(mode="json", exclude_defaults=True)
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
        file.write_text(head + text, encoding="utf-8")


def build_recorded_scenario(runs: Sequence[RecordedRun], *, stem: str = "run") -> RecordedScenario:
    """Return the scenario of the runs on their nodes; each chain arrives when it arrived.

    The names of tables begin with ``stem``.
    """
    began, ended = min(run.began for run in runs), max(run.ended for run in runs)
    names = _list_kind_names(runs)
    recorded_pilots = find_recorded_pilots(runs, names)
    kinds = _build_kinds(runs, names, recorded_pilots)
    time_of = _create_time_of(recorded_pilots, {kind.name: kind.loading for kind in kinds})
    nodes = build_node_groups(recorded_pilots, kinds, began=began, ended=ended)
    pipelines: list[Pipeline] = []
    arrivals: list[Arrivals] = []
    tables: dict[str, Sequence[Row]] = {}
    for number, run in enumerate(runs, 1):
        begin = (run.began - began).total_seconds()
        run_pipelines = build_pipelines(run, time_of)
        names_by_id = {
            id(pipeline): _build_pipeline_name(pipeline.steps, number, len(runs))
            for pipeline in run_pipelines
        }
        for pipeline in run_pipelines:
            name, table = names_by_id[id(pipeline)], f"{stem}.{len(pipelines) + 1}.csv"
            stages = [names[run.template, step] for step in pipeline.steps]
            after = [names_by_id[id(before)] for before in pipeline.after]
            pipelines.append(Pipeline(name=name, stages=stages, after=after))
            arrivals.append(Arrivals(pipeline=name, table=table))
            tables[table] = pipeline.rows(round(begin, 3))
    measured = (ended - began).total_seconds()
    until = measured * _PATIENCE if any(node.lives for node in nodes) else None
    scenario = Scenario(
        name=runs[0].name,
        until=until or None,
        kinds=kinds,
        pipelines=pipelines,
        arrivals=arrivals,
        nodes=nodes,
    )
    return RecordedScenario(scenario, tables, runs, measured)


def replay(
    recorded_scenario: RecordedScenario,
    *,
    new_nodes: ReplayNodes,
    policy: PolicyName | None = None,
    seed: int | None = None,
    with_timeline: bool = False,
) -> tuple[Replay, RecordedScenario]:
    """Simulate the run as it was recorded, and also with the changes, if there are any.

    Args:
        recorded_scenario: The run.
        new_nodes: Other nodes.
        policy: Another policy.
        seed: Another seed.
        with_timeline: Whether the last result has a time line.

    Returns:
        The results, and the scenario with the changes.

    Raises:
        InvalidScenario: No node can run jobs of a kind.
    """
    other_scenario = _change_scenario(recorded_scenario, new_nodes, policy, seed)
    is_other = other_scenario.scenario != recorded_scenario.scenario
    same = simulate(
        recorded_scenario.scenario,
        tables=recorded_scenario.tables,
        with_timeline=with_timeline and not is_other,
    )
    changed_result = (
        simulate(other_scenario.scenario, tables=other_scenario.tables, with_timeline=with_timeline)
        if is_other
        else None
    )
    steps = [step for run in recorded_scenario.runs for step in run.steps.values()]
    result = Replay(
        chains=[run.chain for run in recorded_scenario.runs],
        measured=recorded_scenario.measured,
        same=same,
        ratio=same.end / recorded_scenario.measured if recorded_scenario.measured else 0.0,
        asked=changed_result,
        untimed=sum(step.untimed for step in steps),
        lost=sum(step.lost for step in steps),
    )
    return result, other_scenario


def _change_scenario(
    recorded_scenario: RecordedScenario,
    new_nodes: ReplayNodes,
    policy: PolicyName | None,
    seed: int | None,
) -> RecordedScenario:
    before = recorded_scenario.scenario
    nodes = change_nodes(before.nodes, new_nodes) if new_nodes else before.nodes
    changes = {
        "nodes": nodes,
        "policy": policy or before.policy,
        "seed": before.seed if seed is None else seed,
        "until": before.until if any(node.lives for node in nodes) else None,
    }
    scenario = before.model_copy(update=changes)
    return RecordedScenario(
        scenario, recorded_scenario.tables, recorded_scenario.runs, recorded_scenario.measured
    )


def _list_kind_names(runs: Sequence[RecordedRun]) -> dict[tuple[str, str], str]:
    """Return the names of kinds by template and step; of several templates, with the template."""
    several = len({run.template for run in runs}) > 1
    return {
        (run.template, step): f"{run.template}.{step}" if several else step
        for run in runs
        for step in run.steps
    }


def _build_pipeline_name(steps: Sequence[str], number: int, runs: int) -> str:
    name = "+".join(steps) if len(steps) < 4 else f"{steps[0]}..{steps[-1]}"
    return name if runs == 1 else f"{number}.{name}"


def _build_kinds(
    runs: Sequence[RecordedRun],
    names: Mapping[tuple[str, str], str],
    recorded_pilots: Sequence[RecordedPilot],
) -> list[KindOfWork]:
    kinds_by_name: dict[str, KindOfWork] = {}
    for run in runs:
        for step, recorded in run.steps.items():
            name = names[run.template, step]
            if recorded.jobs and name not in kinds_by_name:
                needs = run.plan.step(step).needs
                loading = (
                    estimate_loading_time(recorded_pilots, name, step=step) if needs.warm else 0.0
                )
                kinds_by_name[name] = _build_kind(name, needs, loading)
    return list(kinds_by_name.values())


def _build_kind(name: str, needs: Needs, loading_seconds: float) -> KindOfWork:
    gpus = needs.gpus
    return KindOfWork(
        name=name,
        loading=round(loading_seconds, 3),
        cores=needs.resources.cores,
        ram=needs.resources.counted_ram,
        gpus=0.0 if gpus is None else gpus.least * gpus.share,
        nodes=needs.nodes,
    )


def _create_time_of(
    recorded_pilots: Sequence[RecordedPilot], loading_seconds: Mapping[str, float]
) -> TimeOf:
    """Return a function of the times of jobs on a node of speed 1, without loading."""
    times: dict[int, float] = {}
    for recorded_pilot in recorded_pilots:
        for each in recorded_pilot.jobs:
            took, load = each.job.seconds, loading_seconds[each.kind]
            net_seconds = took - load if each.loads and took >= load else took
            times[id(each.job)] = net_seconds * recorded_pilot.speed

    def time_of(step: str, job: RecordedJob) -> float:
        return times[id(job)]

    return time_of
