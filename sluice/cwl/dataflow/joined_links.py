"""Inputs of steps whose values each job joins, as no data set can be joined to them.

The input is split: an input of the step for each source brings the value to the job, and a
workflow around the tool joins the values as CWL says (``linkMerge``, ``pickValue``, ``default``).
"""

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.dataflow.file_defaults import default_files
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.dataflow.merging import check_merge, is_merged
from sluice.cwl.documents.types import is_optional, without_null
from sluice.cwl.documents.workflow import Link, Step, Workflow
from sluice.cwl.reading.findings import Findings


def split_joined_links(workflow: Workflow, wiring: Wiring) -> None:
    """Split the links of steps whose values the jobs join.

    These are links that join the values of parameters with each other or with data sets, or that
    join data sets of different kinds, or that replace null by a default. Single values that may be
    null are joined so if the tool takes nulls, because a data set has none.
    """
    for step in workflow.steps.values():
        for link in list(step.links.values()):
            if _is_joined_in_jobs(step, link, workflow, wiring):
                _split(step, link, wiring)


def _is_joined_in_jobs(step: Step, link: Link, workflow: Workflow, wiring: Wiring) -> bool:
    origins = wiring.sources(step.name, link.name)
    joins = is_merged(link) or "pickValue" in link.body
    if (
        not origins
        or link.name in step.scatter
        or step.for_output is not None
        or step.tool.get("class") == "Operation"
    ):
        return False
    if not joins or "default" in link.body:
        return "default" in link.body
    bundles = wiring.bundle_inputs | wiring.bundle_lists
    if any(origin.step is None and origin.port in bundles for origin in origins) or default_files(
        step, link.name, workflow, wiring
    ):
        return True
    streams = [wiring.streams.get(origin) for origin in origins]
    return (
        None in streams
        or not check_merge(link, streams, "", Findings(""))
        or (_takes_nulls(step, link) and not any(stream.many for stream in streams if stream))
    )


def _takes_nulls(step: Step, link: Link) -> bool:
    """Return whether the tool takes a list in which null stands for a source without a value."""
    kind = without_null(step.input_type(link.name))
    is_array = isinstance(kind, dict) and kind.get("type") == "array"
    return is_array and is_optional(kind["items"]) and "pickValue" not in link.body


def _split(step: Step, link: Link, wiring: Wiring) -> None:
    """Replace a link by one for each of its sources."""
    place = (step.name, link.name)
    origins = wiring.sources(*place)
    del wiring.origins[place]
    wiring.further_sources.pop(place, None)
    wiring.input_streams.pop(place, None)
    step.joined_links[link.name] = names = _free_names(step, link.name, len(origins))
    for name, source, origin in zip(names, link.sources or (), origins, strict=True):
        step.links[name] = Link(name, link.place, [source], link.source_place, CommentedMap())
        wiring.origins[step.name, name] = origin
        stream = wiring.streams.get(origin)
        if stream is not None:
            wiring.input_streams[step.name, name] = stream


def _free_names(step: Step, name: str, count: int) -> list[str]:
    names: list[str] = []
    for number in range(1, count + 1):
        free = f"{name}_{number}"
        while free in step.links or free in step.tool_inputs or free in names:
            free += "_"
        names.append(free)
    return names
