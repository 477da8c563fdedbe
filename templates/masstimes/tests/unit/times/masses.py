"""Masses of small pages, as short texts."""

from masstimes.rules import make_order_line
from masstimes.text import page_text


def list_masses(html: str) -> list[str]:
    """Return the masses of a page about masses, as ``sunday 08:00`` or ``weekday 17:00 fri W1``.

    Weeks begin with ``W``, and seasons are in braces.
    """
    page = {
        "text": page_text(f"<h1>Msze święte</h1>{html}"),
        "domain": "p.pl",
        "url": "http://p.pl",
    }
    order = make_order_line(page, is_mass_page=True)
    return [
        " ".join(
            (
                *filter(None, (mass["day"], mass["time"], mass["days"])),
                *([f"W{mass['weeks']}"] if mass["weeks"] else ()),
                *([f"{{{mass['season']}}}"] if mass["season"] else ()),
            )
        )
        for mass in (order["masses"] if order else ())
    ]


def make_table(*rows: str) -> str:
    """Return a table of rows such as ``Niedziela | 8.00``."""
    cells = ("".join(f"<td>{cell.strip()}</td>" for cell in row.split("|")) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
