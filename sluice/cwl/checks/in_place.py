"""Check of tools that change their inputs in place (``InplaceUpdateRequirement``).

The jobs of a template change copies. With other runners, every step that reads the same file sees
the change.
"""

from collections import Counter

from sluice.cwl.checks.link_types import find_link_type
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.documents.types import contains_files
from sluice.cwl.documents.workflow import SourcePort
from sluice.cwl.features import SOURCES
from sluice.cwl.properties.requirements import step_requirements
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings
from sluice.text.visible_text import quoted


def check_in_place(template: ParsedTemplate, flow: Dataflow, findings: Findings) -> None:
    """Report steps that change a file which another step or an output of the workflow reads."""
    wiring = flow.wiring
    readers: Counter[SourcePort] = Counter(wiring.outputs.values())
    for step in flow.workflow.steps.values():
        for link in step.links.values():
            readers.update(wiring.sources(step.name, link.name))
    for step in flow.workflow.steps.values():
        requirement = step_requirements(step, template).get("InplaceUpdateRequirement")
        if requirement is None or requirement.body.get("inplaceUpdate") is not True:
            continue
        for link in step.links.values():
            if contains_files(find_link_type(step, link, flow)) and any(
                readers[origin] > 1 for origin in wiring.sources(step.name, link.name)
            ):
                findings.error(
                    link.source_place,
                    f"step {quoted(step.name)} changes {quoted(link.name)} in place, which others"
                    f" read, too: {SOURCES['what a step changes in place'].note}",
                )
