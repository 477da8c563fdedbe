"""Inputs of steps that join the values of parameters, or replace null by a default.

No data set is involved, so each job does this itself, in a workflow around the tool.
"""

from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.dataflow.merging import is_merged
from sluice.cwl.documents.workflow import Step, Workflow


def mark_joined_values(workflow: Workflow, wiring: Wiring) -> None:
    """Note in each step the inputs whose values its jobs join."""
    for step in workflow.steps.values():
        step.joined_values = frozenset(
            link.name
            for link in step.links.values()
            if link.name not in step.scatter
            and (is_merged(link) or {"pickValue", "default"} & link.body.keys())
            and wiring.sources(step.name, link.name)
            and all(source.step is None for source in wiring.sources(step.name, link.name))
            and not wiring.is_data(step.name, link.name)
        )


def source_names(step: Step, link_name: str, count: int) -> list[str]:
    """Return the names of the inputs of the workflow around the tool, one for each source."""
    names = [link_name]
    for number in range(2, count + 1):
        name = f"{link_name}_{number}"
        while name in step.links or name in names:
            name += "_"
        names.append(name)
    return names
