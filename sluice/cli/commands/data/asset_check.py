"""The check of an asset by a tool, before it is stored.

The tool runs on the system like any other tool. If it fails, the asset is not stored.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sluice.cli.system import System
from sluice.clientkit.output import err
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.data.assets import AssetCheck
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import shown_path

#: The colours and prefixes of cwltool's messages, and the start of its last message.
_COLOURS, _PREFIX = re.compile(r"\x1b\[[0-9;]*m"), re.compile(r"^(?:ERROR|WARNING|INFO) ")
_END = "Final process status is "
#: The number of lines that an error shows of a tool's messages.
_MAX_ERROR_LINES = 20
_FOLDER, _LIST = "Directory", {"type": "array", "items": "File"}


def read_check(tool: Path) -> AssetCheck:
    """Read the tool that checks an asset.

    Raises:
        Unprocessable: The file cannot be read, or cannot be stored with the asset.
    """
    try:
        return AssetCheck(name=tool.name, text=tool.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise Unprocessable(
            f"the check {shown_path(tool)} cannot be read: {reason_of(error)}"
        ) from error
    except ValidationError as error:
        why = validation_sentence(error.errors()[0])
        raise Unprocessable(f"the check {shown_path(tool)} cannot be kept: {why}") from error


def require_accepted(system: System, check: AssetCheck, files: Mapping[str, Path]) -> None:
    """Run the tool with the asset as its input, and require its success.

    Raises:
        Unprocessable: The tool fails, and the findings are its messages; or no input of the tool
            takes the asset.
    """
    inputs = _read_input_types(check)
    with tempfile.TemporaryDirectory(prefix="sluice-asset-") as folder:
        tool = Path(folder) / "tool" / check.name
        tool.parent.mkdir()
        tool.write_text(check.text, encoding="utf-8")
        place = Path(folder) / "asset"
        _link_files(files, place)
        port, value = _argument(check, inputs, place, list(files))
        order = Path(folder) / "order.json"
        order.write_text(json.dumps({port: value}))
        err.print(f"checking with {tool.name}")
        process = subprocess.run(
            [
                sys.executable,
                "-m",
                "sluice.cli",
                "cwl-runner",
                "--quiet",
                *(["--url", system.url] if system.url else ["--home", str(system.home)]),
                "--outdir",
                f"{folder}/out",
                str(tool),
                str(order),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    if process.returncode:
        raise Unprocessable(
            f"{tool.name} does not accept these files, and nothing was stored",
            findings=[Finding(message=line) for line in _last_lines(process.stderr)],
        )


def _last_lines(text: str) -> list[str]:
    """Return the last lines of messages, without colours, prefixes and the final status."""
    lines = [_PREFIX.sub("", _COLOURS.sub("", line)).strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith(_END)][-_MAX_ERROR_LINES:]


def _read_input_types(check: AssetCheck) -> dict[str, Any]:
    """Return the types of the tool's inputs by name.

    Raises:
        Unprocessable: The file is not a tool.
    """
    from sluice.cwl.composing import read_tool  # noqa: PLC0415 - a client alone reads no CWL
    from sluice.cwl.documents.types import without_null  # noqa: PLC0415 - as above

    tool, findings = read_tool(check.text, file=check.name)
    if tool is None:
        raise Unprocessable(f"the check {check.name} is not a tool", findings=findings)
    return {port.name: without_null(port.type) for port in tool.inputs.values()}


def _argument(
    check: AssetCheck, inputs: Mapping[str, Any], place: Path, names: list[str]
) -> tuple[str, dict[str, Any] | list[dict[str, Any]]]:
    """Return the input that takes the asset, and its value.

    Raises:
        Unprocessable: No input takes the asset.
    """
    file_values = [{"class": "File", "path": str(place / name)} for name in names]
    values: list[tuple[Any, Any]] = [
        (_FOLDER, {"class": "Directory", "path": str(place)}),
        (_LIST, file_values),
        ("File", file_values[0] if len(file_values) == 1 else None),
    ]
    for kind, value in values:
        for port, accepted_type in inputs.items():
            if accepted_type == kind and value is not None:
                return port, value
    raise Unprocessable(
        f"the check {check.name} has no input for these {len(names)} files: it takes them as"
        " Directory or File[], or one file as File"
    )


def _link_files(files: Mapping[str, Path], place: Path) -> None:
    for name, path in files.items():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target)
        except OSError:
            shutil.copyfile(path, target)
