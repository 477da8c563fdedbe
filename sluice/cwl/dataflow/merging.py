"""Inputs with several sources (``linkMerge``) and the choice among them (``pickValue``).

Several data sets are joined in order. Missing entries are left out, as ``all_non_null`` asks for.
So ``first_non_null`` is the first entry, and ``the_only_non_null`` is the entry if there is no
other.
"""

from collections.abc import Sequence
from typing import Any

from sluice.contracts.common.states import Pick
from sluice.cwl.dataflow.streams import EntryStream
from sluice.cwl.documents.types import (
    array_of,
    is_list,
    normal_type,
    short_form,
    type_alternatives,
    without_null,
)
from sluice.cwl.documents.workflow import Link
from sluice.cwl.reading.findings import Findings, text_place
from sluice.text.visible_text import quoted

_FLATTENED = "merge_flattened"
#: A tuple instead of a set, because the value may be unhashable.
_FIRST_OR_ONLY = tuple(Pick)


def is_merged(link: Link) -> bool:
    """Return whether the sources of the link form a separate list."""
    return link.sources is not None and (len(link.sources) > 1 or "linkMerge" in link.body)


def find_pick(link: Link) -> Pick | None:
    """Return how one entry is chosen, or None if all entries are taken."""
    pick = link.body.get("pickValue")
    return Pick(pick) if pick in _FIRST_OR_ONLY else None


def merged_type(link: Link, types: Sequence[Any]) -> Any:
    """Return the CWL type that the link brings, or None if the type of a source is unknown."""
    if not types or any(kind is None for kind in types):
        return None
    kind = types[0]
    if is_merged(link):
        items = [
            item
            for source_type in types
            for item in (_item_types(source_type) if _is_flat(link) else [source_type])
        ]
        kind = array_of(normal_type(items))
    pick = link.body.get("pickValue")
    if pick is None or not (isinstance(kind, dict) and kind.get("type") == "array"):
        return kind
    item_type = without_null(kind["items"])
    return array_of(item_type) if pick == "all_non_null" else item_type


def merged_stream(link: Link, streams: Sequence[EntryStream | None]) -> EntryStream | None:
    """Return the entries that a step reads by the link, or None if it brings parameters."""
    data_streams = [stream for stream in streams if stream is not None]
    if not data_streams:
        return None
    types = [stream.type for stream in data_streams]
    many = data_streams[0].many or is_merged(link)
    secondary = any(stream.secondary for stream in data_streams)
    return EntryStream(
        normal_type(types),
        many=many and find_pick(link) is None,
        spread=data_streams[0].spread,
        secondary=secondary,
        folder=any(stream.folder for stream in data_streams),
    )


def check_merge(
    link: Link, streams: Sequence[EntryStream | None], subject: str, findings: Findings
) -> bool:
    """Return whether the sources of a link can be read as one data set, and report why not."""
    sources, pick = link.sources or [], find_pick(link)
    data_sources = [
        (source, stream)
        for source, stream in zip(sources, streams, strict=True)
        if stream is not None
    ]
    lists = [source for source, stream in data_sources if stream.many]
    problem, place = "", link.source_place
    if len(data_sources) < len(sources):
        value = next(
            source for source, stream in zip(sources, streams, strict=True) if stream is None
        )
        problem = f"joins data sets and parameters: {quoted(value)} is a parameter"
    elif pick is not None and (lists or not is_merged(link)):
        place = text_place(link.body, "pickValue")
        reason = (
            f"{quoted(lists[0])} is a whole data set: let a step before it choose"
            if lists
            else "there is one source"
        )
        problem = (
            f"has 'pickValue: {pick}', which chooses among sources of one value each, but {reason}"
        )
    elif is_merged(link) and (
        folder := next((name for name, stream in data_sources if stream.folder), None)
    ):
        problem = f"joins {quoted(folder)}, the folder of an asset, with others: give it alone"
    elif is_merged(link):
        problem = _kind_mismatch(link, data_sources) or (
            _list_from_job(data_sources) if _is_flat(link) else _nested_lists(lists)
        )
    if problem:
        findings.error(place, f"{subject} {problem}")
    return not problem


def _is_flat(link: Link) -> bool:
    return bool(link.body.get("linkMerge") == _FLATTENED)


def _kind_mismatch(link: Link, data_sources: Sequence[tuple[str, EntryStream]]) -> str:
    first, kind = data_sources[0][0], data_sources[0][1].kind
    other = next((source for source, stream in data_sources if stream.kind is not kind), None)
    if other is None:
        return ""
    return (
        f"joins files with other values: {quoted(first)} and {quoted(other)} must both be plain"
        " files, or neither"
    )


def _nested_lists(lists: Sequence[str]) -> str:
    if not lists:
        return ""
    return (
        f"would be a list of lists, because {quoted(lists[0])} is a whole data set: write"
        " 'linkMerge: merge_flattened', which concatenates the entries of its sources"
    )


def _list_from_job(data_sources: Sequence[tuple[str, EntryStream]]) -> str:
    """Return an error if a source is a list from a single job.

    Such a list is one entry, and only a job can divide it.
    """
    for source, stream in data_sources:
        if not stream.many and any(
            kind == "Any" or is_list(kind) for kind in type_alternatives(stream.type)
        ):
            return (
                f"would split the list that a job writes to {quoted(source)}"
                f" ({short_form(stream.type)}): let an earlier step do this"
            )
    return ""


def _item_types(kind: Any) -> list[Any]:
    return [member["items"] if is_list(member) else member for member in type_alternatives(kind)]
