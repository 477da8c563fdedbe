"""Hand-made recorded runs: two steps that run item by item, and a step that joins all items."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.recorded_run import RecordedJob, RecordedRun, RecordedStep
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.pilot_list import Pilot
from sluice.contracts.templates.plan import Plan
from sluice.cwl import compile_template

START_TIME = datetime(2026, 11, 25, 8, tzinfo=UTC)

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

#: Step → jobs; each job is its pilot, its start in seconds, and its duration.
Jobs = Mapping[str, Sequence[tuple[str, float, float]]]


def make_plan(**more: str) -> Plan:
    """Return a plan; ``more`` holds properties of a and b (with a trailing comma) and of join."""
    texts = {"a": "", "b": "", "join": "", **more}
    result = compile_template(_WORKFLOW.format(**texts), name="joins")
    assert result.plan is not None, "\n".join(map(str, result.findings))
    return result.plan


def make_pilot(name: str, **changes: Any) -> Pilot:
    """Return a pilot with one core that exists before and after the run."""
    fields = {
        "uid": UUID(int=abs(hash((name, str(changes)))) % 2**128),
        "name": name,
        "host": "farm",
        "state": PilotState.ACTIVE,
        "slots": 16,
        "resources": NodeResources(cores=1, ram=8000, disk=1000),
        "registered_at": START_TIME - timedelta(hours=1),
        "seen_at": START_TIME + timedelta(hours=1),
    }
    return Pilot.model_validate(fields | changes)


def make_recorded_run(
    jobs: Jobs, *, took: float, pilots: Sequence[Pilot] | None = None, **more: str
) -> RecordedRun:
    names = dict.fromkeys(who for of_step in jobs.values() for who, _, _ in of_step)
    return RecordedRun(
        chain=UUID(int=1),
        name="pages",
        template="joins",
        plan=make_plan(**more),
        began=START_TIME,
        ended=START_TIME + timedelta(seconds=took),
        steps={
            step: RecordedStep(
                START_TIME,
                [
                    RecordedJob(number, 1, who, START_TIME + timedelta(seconds=began), seconds)
                    for number, (who, began, seconds) in enumerate(of_step)
                ],
            )
            for step, of_step in jobs.items()
        },
        pilots=[make_pilot(name) for name in names] if pilots is None else pilots,
    )


#: Four items on two pilots: 10 s and 5 s for each item, then 7 s for all.
FOUR_PAGES: Jobs = {
    "a": [("one", 0, 10), ("two", 0, 10), ("one", 15, 10), ("two", 15, 10)],
    "b": [("one", 10, 5), ("two", 10, 5), ("one", 25, 5), ("two", 25, 5)],
    "join": [("one", 30, 7)],
}
