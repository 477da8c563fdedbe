"""cwltool, a peer of the benchmarks."""

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def time_cwltool(workflow: str, files: Sequence[Path], folder: Path, *options: str) -> float:
    """Return the seconds of cwltool for a workflow with the input ``files``."""
    text, order = folder / "workflow.cwl", folder / "order.yml"
    text.write_text(workflow)
    order.write_text(
        "files:\n" + "".join(f"- {{class: File, location: {path}}}\n" for path in files)
    )
    program = shutil.which("cwltool", path=str(Path(sys.executable).parent)) or "cwltool"
    command = [
        program,
        *options,
        "--quiet",
        "--outdir",
        str(folder / "cwltool"),
        str(text),
        str(order),
    ]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started
