"""Small transcribed pages in the format of `ocr-transcribe`."""

from collections.abc import Sequence
from pathlib import Path

from ocr.page_xml import NAMESPACE

Line = Sequence[tuple[str, str]]


def write_page(path: Path, regions: Sequence[Sequence[Line]]) -> Path:
    """Write a page of regions, which contain lines of words (text, confidence)."""
    text = "".join(
        f'<TextRegion id="r{number}"><Coords points="0,0 9,0 9,9"/>'
        + "".join(_make_line(f"r{number}l{place}", line) for place, line in enumerate(lines))
        + "</TextRegion>"
        for number, lines in enumerate(regions)
    )
    path.write_text(
        f'<PcGts xmlns="{NAMESPACE}"><Page imageFilename="x" imageWidth="99" imageHeight="99">'
        f"{text}</Page></PcGts>",
        encoding="utf-8",
    )
    return path


def _make_line(name: str, words: Line) -> str:
    boxes = "".join(
        f'<Word id="{name}w{place}"><Coords points="{place},2 {place},5 {place + 1},5"/>'
        f'<TextEquiv conf="{sure}"><Unicode>{text}</Unicode></TextEquiv></Word>'
        for place, (text, sure) in enumerate(words)
    )
    whole = " ".join(text for text, _ in words)
    return (
        f'<TextLine id="{name}"><Coords points="0,0 9,0 9,9"/>{boxes}'
        f'<TextEquiv conf="0.5"><Unicode>{whole}</Unicode></TextEquiv></TextLine>'
    )
