"""A new property of ``Needs`` reaches the pilot without changes in the services between."""

import json
from typing import Any
from uuid import UUID

import pytest

from sluice.contracts.jobs.needs import Needs, Resources
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.leases import PilotTask
from sluice.contracts.templates.plan import Plan, PlanStep
from sluice.cwl.compiler import compile_template
from sluice.cwl.properties import extension_fields, needs
from tests.unit.wfms.chains.plans import DATA, make_plan, make_step
from wfms.chains.domain import tasks
from wfms.chains.domain.tasks import DatasetFolder, Origin, StepDatasets, make_task
from wms.db.tasks import task_cache
from wms.db.tasks.task_cache import build_cached_task

ORIGIN = Origin(UUID(int=9), "t@1", "run-1", {}, None, None)
DATASETS = StepDatasets(
    sources={DATA: UUID(int=1)},
    outputs={"out": DatasetFolder(UUID(int=2), "file:///s/x.out")},
    logs=DatasetFolder(UUID(int=3), "file:///l/x.logs"),
)


TEMPLATE = """
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements: {ScatterFeatureRequirement: {}}
inputs: {files: "File[]"}
outputs: {out: {type: "File[]", outputSource: one/o}}
steps:
  one:
    sluice:note: by hand
    scatter: f
    in: {f: files}
    out: [o]
    run:
      class: CommandLineTool
      hints: {ToolTimeLimit: {timelimit: 9}, ResourceRequirement: {coresMin: 2}}
      baseCommand: [cat]
      inputs: {f: {type: File, inputBinding: {position: 1}}}
      outputs: {o: stdout}
"""


class NotedNeeds(Needs):
    note: str | None = None


class NotedStep(PlanStep):
    needs: NotedNeeds = NotedNeeds()


class NotedPlan(Plan):
    steps: list[NotedStep]  # type: ignore[assignment]


class NotedTask(Task):
    needs: NotedNeeds = NotedNeeds()


class NotedPilotTask(PilotTask):
    needs: NotedNeeds = NotedNeeds()


def make_stored_plan(**needs: Any) -> dict[str, Any]:
    """Return a stored plan, with these needs of its only step."""
    written = make_plan(make_step("decode"), outputs=[("decode", "out")]).model_dump(mode="json")
    written["steps"][0]["needs"].update(needs)
    return written


def make_plan_message(stored: Plan) -> dict[str, Any]:
    task = make_task(ORIGIN, stored, step="decode", params={}, datasets=DATASETS)
    written: dict[str, Any] = json.loads(task.model_dump_json(exclude_defaults=True))
    return written


def test_new_property_reaches_the_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "Task", NotedTask)
    monkeypatch.setattr(task_cache, "PilotTask", NotedPilotTask)
    stored = NotedPlan.model_validate(make_stored_plan(note="by hand", resources={"cores": 2}))
    assert NotedPlan.model_validate(stored.model_dump(mode="json")) == stored
    message = make_plan_message(stored)
    assert message["needs"] == {"note": "by hand", "resources": {"cores": 2.0}}
    leased = build_cached_task(NotedTask.model_validate(message))
    pilot_needs = NotedPilotTask.model_validate_json(leased.pilot_json).needs
    assert pilot_needs == NotedNeeds(note="by hand", resources=Resources(cores=2))


def test_step_field_named_like_a_property_sets_the_property(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(needs, "Needs", NotedNeeds)
    note = extension_fields.ExtensionField("step", lambda value: value.raw_value)
    monkeypatch.setitem(extension_fields.FIELDS, "note", note)
    compiled = compile_template(TEMPLATE, name="t").plan
    assert compiled is not None
    assert compiled.steps[0].needs == NotedNeeds(
        note="by hand", resources=Resources(cores=2, time_limit=9)
    )


def test_properties_without_a_value_are_not_sent() -> None:
    stored = Plan.model_validate(make_stored_plan())
    assert stored.steps[0].needs == Needs()
    assert "needs" not in make_plan_message(stored)


def test_sandbox_is_sent_only_if_it_is_required() -> None:
    assert make_plan_message(Plan.model_validate(make_stored_plan(sandbox=True)))["needs"] == {
        "sandbox": True
    }
