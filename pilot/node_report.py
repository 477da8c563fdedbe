"""Report of what a pilot would find on this node: ``python -m pilot.node_report``.

The report is one JSON document, which `sluice doctor` reads. It tries the sandbox, the engines and
the control groups with the functions that pilots use.
"""

import json
import tempfile
import uuid
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from pilot.isolation.node.memory_groups import find_memory_groups
from pilot.isolation.sandbox.sandbox import Sandbox
from pilot.node.engines import find_engines
from pilot.node.gpus import find_gpus
from pilot.node.resources import detect
from pilot.node_isolation import find_configured_sandbox
from pilot.settings import PilotSettings

#: Events of warnings whose facts have separate fields in the report.
_REPORTED = frozenset({"engine.none", "memory.limits", "sandbox.no_network", "sandbox.none"})


def report_node(folder: Path) -> dict[str, Any]:
    """Return what a pilot with the work folder ``folder`` would find.

    ``sandbox`` and ``network`` are None if they work, and otherwise say why not. ``no_engines``
    maps container engines that are installed, but do not work, to the reasons. ``notices`` are all
    other warnings that the pilot would log.
    """
    settings = PilotSettings().model_copy(update={"sandbox": "preferred", "work_dir": folder})
    with capture_logs() as logged:
        sandbox = find_configured_sandbox(settings, folder / "system", network=True)
        groups = find_memory_groups(f"doctor-{uuid.uuid4()}")
        if groups is not None:
            groups.remove()
        engines = [engine.kind.value for engine in find_engines(settings.containers)]
        gpus = [gpu.gpu.name for gpu in find_gpus()]
        resources = detect(folder)
    works = isinstance(sandbox, Sandbox)
    warnings = [entry for entry in logged if entry["log_level"] in {"warning", "error"}]
    return {
        "sandbox": None if works else sandbox,
        "network": sandbox.no_network if isinstance(sandbox, Sandbox) else sandbox,
        "memory_groups": groups is not None,
        "engines": engines,
        "gpus": gpus,
        "cores": resources.cores,
        "ram": resources.ram,
        "no_engines": {
            entry["engine"]: entry["reason"]
            for entry in warnings
            if entry["event"] == "engine.none"
        },
        "notices": [
            f"{entry['event']}: {entry.get('reason') or entry.get('note') or ''}".rstrip(": ")
            for entry in warnings
            if entry["event"] not in _REPORTED
        ],
    }


def main() -> None:
    """Print the report as JSON."""
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        print(json.dumps(report_node(Path(folder))))


if __name__ == "__main__":
    main()
