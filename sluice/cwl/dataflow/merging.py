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
    members_of,
    normal_type,
    short_form,
    without_null,
)
from sluice.cwl.documents.workflow import Link
from sluice.cwl.features import SOURCES
from sluice.cwl.reading.findings import Findings, text_place
from sluice.text.visible_text import quoted

_NESTED, _FLATTENED = "merge_nested", "merge_flattened"
#: A tuple and no set, because the value that is looked up may be unhashable.
_FIRST_OR_ONLY = tuple(Pick)


def is_merged(link: Link) -> bool:
    """Return whether the sources of the link form a list of their own."""
    return link.sources is not None and (len(link.sources) > 1 or "linkMerge" in link.body)


def pick_of(link: Link) -> Pick | None:
    """Return how one entry is chosen, or None if all entries are taken."""
    pick = link.body.get("pickValue")
    return Pick(pick) if pick in _FIRST_OR_ONLY else None


def given_type(link: Link, types: Sequence[Any]) -> Any:
    """Return the CWL type that the link brings, or None if the type of a source is unknown."""
    if not types or any(kind is None for kind in types):
        return None
    kind = types[0]
    if is_merged(link):
        items = [item for each in types for item in (_items(each) if _is_flat(link) else [each])]
        kind = array_of(normal_type(items))
    pick = link.body.get("pickValue")
    if pick is None or not (isinstance(kind, dict) and kind.get("type") == "array"):
        return kind
    chosen = without_null(kind["items"])
    return array_of(chosen) if pick == "all_non_null" else chosen


def merged_stream(link: Link, streams: Sequence[EntryStream | None]) -> EntryStream | None:
    """Return the entries that a step reads by the link, or None if it brings parameters."""
    found = [stream for stream in streams if stream is not None]
    if not found:
        return None
    types = [stream.type for stream in found]
    many = found[0].many or is_merged(link)
    secondary = any(stream.secondary for stream in found)
    return EntryStream(
        normal_type(types),
        many=many and pick_of(link) is None,
        spread=found[0].spread,
        secondary=secondary,
        folder=any(stream.folder for stream in found),
    )


def check_merge(
    link: Link, streams: Sequence[EntryStream | None], subject: str, findings: Findings
) -> bool:
    """Return whether the sources of a link can be read as one data set, and report why not."""
    sources, pick = link.sources or [], pick_of(link)
    known = [
        (source, stream)
        for source, stream in zip(sources, streams, strict=True)
        if stream is not None
    ]
    lists = [source for source, stream in known if stream.many]
    trouble, place = "", link.source_place
    if len(known) < len(sources):
        value = next(
            source for source, stream in zip(sources, streams, strict=True) if stream is None
        )
        trouble = f"joins data sets and parameters: {quoted(value)} is a parameter"
    elif pick is not None and (lists or not is_merged(link)):
        place = text_place(link.body, "pickValue")
        why = (
            f"{quoted(lists[0])} is a whole data set:"
            f" {SOURCES['pickValue among whole data sets'].note}"
            if lists
            else "there is one source"
        )
        trouble = (
            f"has 'pickValue: {pick}', which chooses among sources of one value each, and {why}"
        )
    elif is_merged(link) and (folder := next((name for name, each in known if each.folder), None)):
        trouble = f"joins {quoted(folder)}, the folder of an asset, with others: give it by itself"
    elif is_merged(link):
        trouble = _unlike(link, known) or (_not_flat(known) if _is_flat(link) else _nested(lists))
    if trouble:
        findings.error(place, f"{subject} {trouble}")
    return not trouble


def _is_flat(link: Link) -> bool:
    return bool(link.body.get("linkMerge") == _FLATTENED)


def _unlike(link: Link, known: Sequence[tuple[str, EntryStream]]) -> str:
    first, kind = known[0][0], known[0][1].kind
    other = next((source for source, stream in known if stream.kind is not kind), None)
    if other is None:
        return ""
    return (
        f"joins files and other values: {quoted(first)} and {quoted(other)} are not both plain"
        " files, which are kept in another way"
    )


def _nested(lists: Sequence[str]) -> str:
    if not lists:
        return ""
    way = SOURCES["merge_nested of whole data sets"].note
    return f"would be lists in a list, as {quoted(lists[0])} is a whole data set: {way}"


def _not_flat(known: Sequence[tuple[str, EntryStream]]) -> str:
    """Return an error if a source is a list from a single job.

    Such a list is one entry, and only a job can divide it.
    """
    for source, stream in known:
        if not stream.many and any(
            kind == "Any" or is_list(kind) for kind in members_of(stream.type)
        ):
            return (
                f"takes the list apart that a job gives as {quoted(source)}"
                f" ({short_form(stream.type)}): let a step before it do that"
            )
    return ""


def _items(kind: Any) -> list[Any]:
    return [member["items"] if is_list(member) else member for member in members_of(kind)]
