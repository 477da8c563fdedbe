"""The result of a benchmark: a table for people, and one JSON object as the last line."""

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.table import Table

from sluice.clientkit.output import out


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The result of a benchmark.

    ``target`` is the goal of the project. ``peers`` has the same quantity of other systems.
    ``ratio`` is the value divided by that of one peer.
    """

    name: str
    value: float
    unit: str
    target: str
    peers: Mapping[str, float] = field(default_factory=dict)
    ratio: float | None = None
    details: Mapping[str, object] = field(default_factory=dict)

    def show(self) -> None:
        """Print the table, then the JSON line."""
        table = Table(title=self.name, title_justify="left", box=None, pad_edge=False)
        table.add_column("figure")
        table.add_column("value", justify="right")
        table.add_row("sluice", f"{_format_number(self.value)} {self.unit}")
        for peer, value in self.peers.items():
            table.add_row(peer, f"{_format_number(value)} {self.unit}")
        for key, detail in self.details.items():
            table.add_row(key, str(detail))
        if self.ratio is not None:
            table.add_row("ratio", f"{self.ratio:.2f}")
        table.add_row("target", self.target)
        out.print(table)
        print(json.dumps(self.as_dict()), flush=True)

    def as_dict(self) -> dict[str, object]:
        """Return the result as a JSON object."""
        return {
            "name": self.name,
            "value": round(self.value, 3),
            "unit": self.unit,
            "target": self.target,
            "peers": {peer: round(value, 3) for peer, value in self.peers.items()},
            "ratio": None if self.ratio is None else round(self.ratio, 3),
            "machine": describe_machine(),
            "details": dict(self.details),
        }


def _format_number(value: float) -> str:
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.2f}"


def describe_machine() -> dict[str, object]:
    """Return what figures depend on: number and kind of processors, Python, system."""
    return {
        "cores": os.cpu_count(),
        "processor": _read_processor_name(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
    }


def _read_processor_name() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(
                line.split(":", 1)[1].strip() for line in file if line.startswith("model name")
            )
    except (OSError, StopIteration):
        return platform.machine()


def percentile(values: list[float], share: float) -> float:
    """Return the nearest-rank percentile. ``share`` is in 0..1, and ``values`` is not empty."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]
