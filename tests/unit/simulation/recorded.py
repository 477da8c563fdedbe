"""Chains that ran, made by hand: two steps page by page, and one that joins all."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.pilot_list import Pilot
from sluice.contracts.pilots import NodeResources
from sluice.contracts.plan import Plan
from sluice.contracts.recorded_run import RecordedJob, RecordedRun, RecordedStep
from sluice.contracts.states import PilotState
from sluice.cwl import compile_template

BEGAN = datetime(2026, 11, 25, 8, tzinfo=UTC)

_WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {{sluice: "urn:sluice:cwl:"}}
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{files: "File[]"}}
outputs: {{joined: {{type: File, outputSource: join/o}}}}
steps:
  a: {{scatter: i, in: {{i: files}}, out: [o], {a} run: &tool
    {{class: CommandLineTool, baseCommand: cat, inputs: {{i: {{type: File, inputBinding: {{}}}}}},
     outputs: {{o: stdout}}, stdout: out.txt, requirements: {{ToolTimeLimit: {{timelimit: 60}}}}}}}}
  b: {{scatter: i, in: {{i: a/o}}, out: [o], {b} run: *tool}}
  join:
    in: {{i: b/o}}
    out: [o]
    {join}
    run: {{class: CommandLineTool, baseCommand: cat,
      inputs: {{i: {{type: "File[]", inputBinding: {{}}}}}}, outputs: {{o: stdout}},
      stdout: out.txt, requirements: {{ToolTimeLimit: {{timelimit: 60}}}}}}
"""

#: Step → jobs, each as pilot, when it began (seconds from the beginning), and how long it took.
Jobs = Mapping[str, Sequence[tuple[str, float, float]]]


def plan(**more: str) -> Plan:
    """``more``: properties of a and b, each with a comma behind it, and one of join."""
    texts = {"a": "", "b": "", "join": "", **more}
    found = compile_template(_WORKFLOW.format(**texts), name="joins")
    assert found.plan is not None, "\n".join(map(str, found.findings))
    return found.plan


def pilot(name: str, **changes: Any) -> Pilot:
    """Of one core, there from before to after."""
    whole = {
        "uid": UUID(int=abs(hash((name, str(changes)))) % 2**128),
        "name": name,
        "host": "farm",
        "state": PilotState.ACTIVE,
        "slots": 16,
        "resources": NodeResources(cores=1, ram=8000, disk=1000),
        "registered_at": BEGAN - timedelta(hours=1),
        "seen_at": BEGAN + timedelta(hours=1),
    }
    return Pilot.model_validate(whole | changes)


def run(
    jobs: Jobs, *, took: float, pilots: Sequence[Pilot] | None = None, **more: str
) -> RecordedRun:
    names = dict.fromkeys(who for of_step in jobs.values() for who, _, _ in of_step)
    return RecordedRun(
        chain=UUID(int=1),
        name="pages",
        template="joins",
        plan=plan(**more),
        began=BEGAN,
        ended=BEGAN + timedelta(seconds=took),
        steps={
            step: RecordedStep(
                BEGAN,
                [
                    RecordedJob(number, 1, who, BEGAN + timedelta(seconds=began), seconds)
                    for number, (who, began, seconds) in enumerate(of_step)
                ],
            )
            for step, of_step in jobs.items()
        },
        pilots=[pilot(name) for name in names] if pilots is None else pilots,
    )


#: Four pages on two workers: 10 s and 5 s each, then 7 s for all.
FOUR_PAGES: Jobs = {
    "a": [("one", 0, 10), ("two", 0, 10), ("one", 15, 10), ("two", 15, 10)],
    "b": [("one", 10, 5), ("two", 10, 5), ("one", 25, 5), ("two", 25, 5)],
    "join": [("one", 30, 7)],
}
