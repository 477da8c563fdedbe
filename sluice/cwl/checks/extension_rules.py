"""Checks of the extension fields (``sluice:…``) against their workflow."""

from sluice.contracts.common.states import TaskMode
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.documents.types import is_list, without_null
from sluice.cwl.properties.match_fields import Match
from sluice.cwl.reading.findings import START, Findings, suggest_or_list
from sluice.text.visible_text import quoted


def check_bound_parameters(flow: Dataflow, findings: Findings) -> None:
    """Report parameters in ``sluice:bind`` that metadata cannot set.

    The value of a bundle may have no files, so that metadata can set it.
    """
    workflow = flow.extensions.workflow
    parameters = {*_value_parameters(flow), *flow.wiring.bundle_inputs}
    for name in workflow.values.get("bind", {}):
        place = workflow.inner.get(("bind", name), START)
        if name == flow.wiring.data_input:
            findings.error(
                place, f"{quoted(name)} is the data set; metadata can only be bound to parameters"
            )
        elif name in flow.assets and name in flow.workflow.inputs:
            continue
        elif name in flow.wiring.file_inputs - flow.wiring.bundle_inputs:
            findings.error(
                place,
                f"{quoted(name)} is a file; metadata can only be bound to parameters that are"
                " values",
            )
        elif name not in parameters:
            findings.error(
                place,
                f"there is no parameter {quoted(name)} to bind{suggest_or_list(name, parameters)}",
            )


def check_fields_without_data(flow: Dataflow, findings: Findings) -> None:
    """Report extension fields about a data set if the workflow takes none."""
    if flow.wiring.data_input is not None:
        return
    workflow = flow.extensions.workflow
    match: Match = workflow.values.get("match", Match())
    fields = []
    if "match" in workflow.places and (match.trigger is None or match.conditions):
        fields.append(("match", workflow.places["match"]))
    fields += [
        (f"{field}: {key.split('.')[0]}", place)
        for (field, key), place in workflow.inner.items()
        if _needs_data_set(field, key, flow)
    ]
    single_file = next(
        (port.name for port in flow.workflow.inputs.values() if port.type in ("File", "Directory")),
        None,
    )
    bundle = next(
        (
            port.name
            for port in flow.workflow.inputs.values()
            if port.name in flow.wiring.bundle_inputs | flow.wiring.bundle_lists
            and is_list(without_null(port.type))
        ),
        None,
    )
    advice = (
        f"leave it out, or let {quoted(bundle)} be one: it is always given, has no default, and"
        " its secondaryFiles are patterns such as '.bai' or '^.fai?'"
        if bundle is not None
        else "leave it out, or let an input be a File[] or Directory[]"
        if single_file is None
        else f"leave it out, or let {quoted(single_file)} be a list,"
        " with the first step scattered over it"
    )
    for field, place in fields:
        findings.error(
            place,
            f"'sluice:{field}' refers to the data set, but no input of the workflow is a data set:"
            f" {advice}",
        )


def _needs_data_set(field: str, key: str, flow: Dataflow) -> bool:
    match field:
        case "bind":
            return key not in flow.assets and key not in flow.secrets
        case "require":
            return key in ("files", "bytes", "meta")
        case "retention":
            return key == "input"
    return False


def check_required_parameters(flow: Dataflow, findings: Findings) -> None:
    """Report parameters in ``sluice:require`` that are secret, unknown or files."""
    workflow, parameters = flow.extensions.workflow, _value_parameters(flow)
    required = workflow.values.get("require")
    for name in required.parameters if required is not None else ():
        if name in flow.secrets:
            findings.error(
                workflow.inner.get(("require", f"parameters.{name}"), START),
                f"{quoted(name)} is a secret, and services cannot check the values of secrets",
            )
        elif name not in parameters:
            findings.error(
                workflow.inner.get(("require", f"parameters.{name}"), START),
                f"there is no parameter {quoted(name)} that is a"
                f" value{suggest_or_list(name, parameters)}",
            )


def _value_parameters(flow: Dataflow) -> list[str]:
    """Return the parameters that are not files."""
    files = flow.wiring.file_inputs
    return [
        name
        for name in flow.workflow.inputs
        if name != flow.wiring.data_input and name not in files
    ]


def check_fields_of_steps(flow: Dataflow, findings: Findings) -> None:
    """Report ``sluice:batch`` on steps that do not scatter, and ``sluice:merge`` on maps."""
    for name, fields in flow.extensions.steps.items():
        step = flow.workflow.steps.get(name)
        if (
            step
            and not step.scatter
            and any(findings.has_error_at(link.source_place) for link in step.links.values())
        ):
            continue  # a source is wrong, so the mode may be wrong, too
        if "batch" in fields.values and step and not step.scatter:
            findings.error(
                fields.places["batch"],
                f"step {quoted(name)} does not scatter; batches are for steps that run their tool"
                " on each file",
            )
        if "merge" in fields.values and flow.wiring.modes.get(name) is TaskMode.MAP:
            runs = (
                "runs its tool on each file;"
                if step and (step.scatter or name in flow.wiring.data_links)
                else "reads no data set, and runs once;"
            )
            findings.error(
                fields.places["merge"],
                f"step {quoted(name)} {runs} groups are for steps that take a File[]",
            )
