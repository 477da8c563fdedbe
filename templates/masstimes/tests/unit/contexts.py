"""Candidates of small made-up sites, in the format of `mt-hours`.

Some hours are masses, others are office hours; each wording occurs at several sites.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from masstimes.hours import find_candidates

_MASSES = ("Msze święte w niedzielę: {}", "Msza św. w tygodniu o godz. {}", "Msze\nniedziela\n{}")
_OTHERS = ("Kancelaria czynna od {}", "Próba chóru o godz. {}", "Biuro parafialne\nwtorek\n{}")


def list_candidates(text: str, *, site: str, answer: str | None = None) -> list[dict[str, Any]]:
    """Return the candidates of a page with this text."""
    url = f"http://{site}/msze.html"
    return [
        {
            "id": f"{url}#{number}",
            "domain": site,
            "url": url,
            "hour": candidate.hour,
            "time": candidate.clock,
            "context": candidate.context,
            "start": candidate.start,
            "end": candidate.end,
            **({"answer": answer} if answer else {}),
        }
        for number, candidate in enumerate(find_candidates(text))
    ]


def make_answered_sites(number: int, *, seed: int) -> list[dict[str, Any]]:
    """Return answered candidates, six for each site."""
    random, lines = Random(seed), []
    for site in range(number):
        for answer, ways in (("yes", _MASSES), ("no", _OTHERS)):
            for way, text in enumerate(ways):
                hour = f"{random.randint(7, 19)}:{random.choice(('00', '30'))}"
                for line in list_candidates(text.format(hour), site=f"{site}.pl", answer=answer):
                    lines.append(line | {"id": f"{site}-{answer}-{way}"})
    return lines


def write(path: Path, lines: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
