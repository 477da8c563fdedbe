"""cwltool in a process that stays, as its start takes longer than a run.

The process reads and writes one line for each run.
"""

import json
import logging
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any


class CwltoolProcess:
    """Run workflows with cwltool, one after the other."""

    def __enter__(self) -> "CwltoolProcess":
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.differential.reference"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate(timeout=60)

    def run(self, workflow: Path, order: Mapping[str, Any], *, folder: Path) -> dict[str, Any]:
        """Return the output object; raise ``RuntimeError`` if cwltool fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(
            json.dumps({"workflow": workflow.as_uri(), "order": dict(order), "folder": str(folder)})
            + "\n"
        )
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return dict(answer["outputs"])


def make_job_order(files: Sequence[Path]) -> dict[str, Any]:
    """Return the data set as the input ``texts``, or no input without files."""
    if not files:
        return {}
    return {
        "texts": [
            {"class": "Directory" if path.is_dir() else "File", "location": path.as_uri()}
            for path in files
        ]
    }


def _serve_requests() -> None:
    from ruamel.yaml import YAML  # noqa: PLC0415 - of the other process

    answers, sys.stdout = sys.stdout, sys.stderr
    yaml = YAML()
    for line in sys.stdin:
        # cwltool's own command reads fractions like this, and writes them unchanged on command
        # lines.
        request = json.loads(line, parse_float=yaml.load)
        print(json.dumps(_run_workflow(**request)), file=answers, flush=True)


def _run_workflow(workflow: str, order: dict[str, Any], folder: str) -> dict[str, Any]:
    from cwltool.context import LoadingContext, RuntimeContext  # noqa: PLC0415 - slow, and of the other process
    from cwltool.executors import SingleJobExecutor  # noqa: PLC0415
    from cwltool.load_tool import load_tool  # noqa: PLC0415
    from cwltool.workflow import default_make_tool  # noqa: PLC0415

    logging.getLogger("cwltool").setLevel(logging.ERROR)
    try:
        tool = load_tool(workflow, LoadingContext({"construct_tool_object": default_make_tool}))
        context = RuntimeContext(
            {"basedir": folder, "outdir": f"{folder}/out", "use_container": False}
        )
        outputs, status = SingleJobExecutor()(tool, order, context)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"outputs": outputs} if status == "success" else {"error": status}


if __name__ == "__main__":
    _serve_requests()
