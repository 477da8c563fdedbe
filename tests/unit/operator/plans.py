"""Small plans for tests."""

from sluice.contracts.common.states import TaskMode
from sluice.contracts.templates.plan import (
    Plan,
    PlanOutput,
    PlanStep,
    Source,
    StepInput,
    StepOutput,
    main_input_mode,
)


def make_step(name: str, source: str | None, *, mode: TaskMode = TaskMode.MAP) -> PlanStep:
    port = "frames" if source is None else "out"
    return PlanStep(
        name=name,
        mode=mode,
        inputs=[
            StepInput(port="in", source=Source(step=source, port=port), mode=main_input_mode(mode))
        ],
        outputs=[StepOutput(port="out")],
        tool={},
    )


def make_plan(*steps: PlanStep, outputs: tuple[str, ...] = ("last",), **more: object) -> Plan:
    return Plan.model_validate(
        {
            "name": "p",
            "cwl_version": "v1.2",
            "data_input": "frames",
            "steps": steps,
            "outputs": [
                PlanOutput(name=f"{name}_files", step=name, port="out") for name in outputs
            ],
            **more,
        }
    )
