"""Check of the parameters that are bound to assets."""

from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.documents.types import ARRAY_OF_FILES, short_form, without_null
from sluice.cwl.reading.findings import START, Findings
from sluice.text.visible_text import quoted


def check_assets(flow: Dataflow, findings: Findings) -> None:
    """Report parameters bound to assets that are not files, and scatters over assets."""
    for name, ref in flow.assets.items():
        port = flow.workflow.inputs.get(name)
        if port is None or without_null(port.type) in ("File", "Directory", ARRAY_OF_FILES):
            continue
        findings.error(
            flow.extensions.workflow.inner.get(("bind", name), START),
            f"the parameter {quoted(name)} is of type {short_form(port.type)}, but {ref} consists"
            " of files: the type must be File (of an asset with one file), File[] or Directory",
        )
    for (name, link), origin in flow.wiring.origins.items():
        step = flow.workflow.steps[name]
        if origin.step is None and origin.port in flow.assets and link in step.scatter:
            findings.error(
                step.field_place("scatter"),
                f"step {quoted(name)} scatters over {quoted(link)}, which is an asset: every job"
                " gets all of it",
            )
