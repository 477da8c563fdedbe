"""Parts of SVG pictures that need no other files.

They have colours for light and dark mode, and all texts are escaped.
"""

import math
from collections.abc import Sequence
from html import escape

#: Colours that tell subjects apart, in light and dark mode; further subjects reuse them in order.
LIGHT = (
    "#2f6fde",
    "#c9760a",
    "#0e8a5f",
    "#b030b0",
    "#cf3b3b",
    "#0b8aa6",
    "#7350d8",
    "#5f8a12",
)
DARK = ("#6ea3ff", "#f2b04a", "#46c896", "#e27ee2", "#ff8080", "#4cc9e4", "#ae94ff", "#a5cf52")

_STYLE = (
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
    "fill:#1d2733}"
    ".muted{fill:#5b6776}.line{stroke:#d5dbe3;stroke-width:1}.ground{fill:#fff}.lane{fill:#eef1f3}"
    ".whisker{stroke:#1d2733;stroke-width:1.25}.curve{fill:none;stroke-width:1.75}"
    + "".join(f".c{n}{{fill:{c}}}.s{n}{{stroke:{c}}}" for n, c in enumerate(LIGHT))
    + "@media(prefers-color-scheme:dark){text{fill:#e6ebf2}.muted{fill:#9aa7b6}"
    ".line{stroke:#39434f}.ground{fill:#182026}.lane{fill:#232c34}.whisker{stroke:#e6ebf2}"
    + "".join(f".c{n}{{fill:{c}}}.s{n}{{stroke:{c}}}" for n, c in enumerate(DARK))
    + "}"
)


def colour(number: int) -> int:
    """Return the number in the CSS classes ``c…`` (fill) and ``s…`` (stroke)."""
    return number % len(LIGHT)


def picture(width: float, height: float, parts: Sequence[str], *, title: str) -> str:
    """Return a complete SVG document."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}" role="img"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style>"
        f'<rect class="ground" width="{width:g}" height="{height:g}"/>{"".join(parts)}</svg>\n'
    )


def text(x: float, y: float, content: str, *, kind: str = "", anchor: str = "start") -> str:
    """Return a text element."""
    marks = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{marks}>{escape(content)}</text>'


def box(x: float, y: float, width: float, height: float, *, kind: str) -> str:
    """Return a rectangle."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
    return f'<rect class="{kind}" {place}/>'


def line(x1: float, y1: float, x2: float, y2: float, *, kind: str = "line") -> str:
    """Return a line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def curve(points: Sequence[tuple[float, float]], kind: str) -> str:
    """Return a polyline."""
    listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="curve {kind}" points="{listed}"/>'


def cut(name: str, max_length: int) -> str:
    """Return a name of at most ``max_length`` characters."""
    return name if len(name) <= max_length else f"{name[: max_length - 1]}…"


def ticks(max_length: float, *, about: int = 5) -> list[float]:
    """Return round numbers from 0 to ``max_length`` in equal steps."""
    if max_length <= 0:
        return [0.0]
    raw = max_length / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    return [step * number for number in range(math.floor(max_length / step + 1e-9) + 1)]


#: Seconds between two ticks of longer times.
_CLOCK = (15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400)


def time_ticks(seconds: float, *, about: int = 5) -> list[float]:
    """Return ticks from 0 to ``seconds`` at multiples of seconds, minutes or hours."""
    step = next((step for step in _CLOCK if step >= seconds / about), None)
    if seconds <= 10 * about or step is None:
        return ticks(seconds, about=about)
    return [float(step * number) for number in range(int(seconds // step) + 1)]
