"""Which columns a table has, by the words of its header."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from masstimes.folding import folded

#: Of the table that is written.
COLUMNS = ("id", "name", "place", "street", "address", "deanery", "diocese", "voivodeship")

#: By header words without marks of Polish letters and without dots and the like.
_WORDS = {
    "id": r"id|identyfikator|kod parafii|n(r|umer) parafii",
    "name": r"((nazwa|wezwanie|tytul)( (parafii|kosciola))?|parafi[ae])( pw)?",
    "place": r"miejscowosc|miasto|miejsce|siedziba",
    "street": r"ulica( i n(r|umer))?|ul",
    "address": r"(dokladny |pelny )?adres( parafii)?",
    "deanery": r"dekanat",
    "diocese": r"(archi)?diecezja",
    "voivodeship": r"wojewodztwo|woj",
}
#: What stands above a table holds for its rows: "Dekanat Hel", "Diecezja: gdańska".
_ABOVE = re.compile(
    r"\W*(?:(?P<deanery>dekanat)|(?P<diocese>(?:archi)?diecezja)|(?P<voivodeship>wojew[óo]dztwo))"
    r"\s*:?\s+(?P<value>\S.*)",
    re.IGNORECASE,
)
_STREET = re.compile(r"\b(?:ul|al|pl|os)\.\s*[^,;]+", re.IGNORECASE)


def columns_of(header: Sequence[str]) -> dict[str, int]:
    """Place of each column that is known; the first of two alike."""
    found: dict[str, int] = {}
    for place, text in enumerate(header):
        words = " ".join(re.findall(r"[a-z]+", folded(text)))
        for name, pattern in _WORDS.items():
            if name not in found and re.fullmatch(pattern, words):
                found[name] = place
    return found


def said_above(heading: str) -> tuple[str, str] | None:
    """The column for which a heading speaks, and what it says."""
    said = _ABOVE.fullmatch(heading)
    if said is None:
        return None
    kind = next(name for name in ("deanery", "diocese", "voivodeship") if said[name])
    return kind, said["value"].strip()


def parish_of(
    columns: Mapping[str, int], row: Sequence[str], above: Mapping[str, str]
) -> dict[str, str]:
    """All columns, texts that are not there empty. The street is looked for in the address, where
    it has no column.
    """
    parish = {name: above.get(name, "") for name in COLUMNS}
    for name, place in columns.items():
        if place < len(row) and row[place]:
            parish[name] = row[place]
    if not parish["street"] and (street := _STREET.search(parish["address"])):
        parish["street"] = street[0].strip()
    return parish
