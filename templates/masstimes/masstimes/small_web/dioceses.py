"""Lists of parishes on the sites of dioceses, as tables over several pages.

Some pages answer only at the second request.
"""

from collections.abc import Sequence
from html import escape

from masstimes.small_web.parishes import Parish, diocese_host

#: The number of rows of a page.
_ROWS = 20
_HEAD = ("Parafia", "Miejscowość", "Adres", "Dekanat", "Diecezja", "Województwo")


def diocese_pages(parishes: Sequence[Parish]) -> dict[str, dict[str, bytes]]:
    """Return the pages by host and path."""
    by_diocese: dict[str, list[Parish]] = {}
    for parish in parishes:
        by_diocese.setdefault(parish.diocese, []).append(parish)
    return {
        diocese_host(diocese): dict(_pages(diocese, members))
        for diocese, members in by_diocese.items()
    }


def first_page(diocese: str, port: int) -> str:
    """Return the address of the first page of a diocese."""
    return f"http://{diocese_host(diocese)}:{port}{_path(0)}"


def _path(number: int) -> str:
    return f"/parafie-{number + 1}.html" if number else "/parafie.html"


def _pages(diocese: str, members: Sequence[Parish]) -> list[tuple[str, bytes]]:
    parts = [members[start : start + _ROWS] for start in range(0, len(members), _ROWS)]
    pages = []
    for number, part in enumerate(parts):
        rows = "".join(f"<tr>{_cells(parish)}</tr>\n" for parish in part)
        head = "".join(f"<th>{name}</th>" for name in _HEAD)
        more = f"<a href='{_path(number + 1)}' rel=next>Następna</a>"
        html = (
            f"<html><head><meta charset=utf-8><title>{escape(diocese)}</title></head><body>"
            f"<h1>Parafie</h1><table class=parafie><tr>{head}</tr>\n{rows}</table>"
            f"{more if number + 1 < len(parts) else ''}</body></html>"
        )
        pages.append((_path(number), html.encode()))
    return pages


def _cells(parish: Parish) -> str:
    texts = (
        parish.name,
        parish.place,
        parish.address,
        parish.deanery,
        parish.diocese,
        parish.voivodeship,
    )
    return "".join(f"<td>{escape(text)}</td>" for text in texts)
