"""The command line of `sluice-cwl-runner`."""

import sys
from collections.abc import Sequence
from pathlib import Path

RUNNER = Path(sys.executable).with_name("sluice-cwl-runner")


def make_command(url: str, *arguments: str | Path) -> Sequence[str]:
    return [str(RUNNER), "--url", url, *map(str, arguments)]
