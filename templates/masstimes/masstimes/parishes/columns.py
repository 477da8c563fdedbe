"""The columns of a table, by the words of its header."""

import re
from collections.abc import Mapping, Sequence

from masstimes.folding import fold

#: The columns of the written table.
COLUMNS = ("id", "name", "place", "street", "address", "deanery", "diocese", "voivodeship")

#: Patterns for folded header words, without punctuation, by column.
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
#: Headings that hold for the rows of the next table: "Dekanat Hel", "Diecezja: gdańska".
_ABOVE = re.compile(
    r"\W*(?:(?P<deanery>dekanat)|(?P<diocese>(?:archi)?diecezja)|(?P<voivodeship>wojew[óo]dztwo))"
    r"\s*:?\s+(?P<value>\S.*)",
    re.IGNORECASE,
)
_STREET = re.compile(r"\b(?:ul|al|pl|os)\.\s*[^,;]+", re.IGNORECASE)


def find_columns(header: Sequence[str]) -> dict[str, int]:
    """Return the position of each known column, and the first of equal ones."""
    positions: dict[str, int] = {}
    for place, text in enumerate(header):
        words = " ".join(re.findall(r"[a-z]+", fold(text)))
        for name, pattern in _WORDS.items():
            if name not in positions and re.fullmatch(pattern, words):
                positions[name] = place
    return positions


def parse_heading(heading: str) -> tuple[str, str] | None:
    """Return the column and value in a heading, or None."""
    match = _ABOVE.fullmatch(heading)
    if match is None:
        return None
    column = next(name for name in ("deanery", "diocese", "voivodeship") if match[name])
    return column, match["value"].strip()


def make_parish(
    columns: Mapping[str, int], row: Sequence[str], above: Mapping[str, str]
) -> dict[str, str]:
    """Return all columns of a parish, with empty texts for missing ones.

    Without a column for the street, it is searched in the address.
    """
    parish = {name: above.get(name, "") for name in COLUMNS}
    for name, place in columns.items():
        if place < len(row) and row[place]:
            parish[name] = row[place]
    if not parish["street"] and (street := _STREET.search(parish["address"])):
        parish["street"] = street[0].strip()
    return parish
