"""Programs of the tutorial on warm tools."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "warm-tools.md"
PROGRAMS = {
    "python": re.findall(r"spell\.py <<'EOF'\n(.*?)^EOF$", PAGE.read_text(), re.DOTALL | re.M)[0],
    "js": re.findall(r"```js warm\n(.*?)```", PAGE.read_text(), re.DOTALL)[0],
}


@pytest.mark.parametrize(
    ("language", "command", "arguments", "outputs"),
    [
        ("python", [sys.executable], ["model", "page"], ["1\n", "2\n"]),
        ("js", ["node"], ["page"], ["2\n", "3\n"]),
    ],
)
def test_tutorial_program_serves_requests_and_runs_once(
    tmp_path: Path, language: str, command: list[str], arguments: list[str], outputs: list[str]
) -> None:
    program, pages = tmp_path / "program", [tmp_path / "page-1", tmp_path / "page-2"]
    program.write_text(PROGRAMS[language])
    (tmp_path / "model").write_text("the")
    pages[0].write_text("the cat\n")
    pages[1].write_text("the cat sat\n")
    jobs = [
        [str(page) if name == "page" else str(tmp_path / name) for name in arguments]
        for page in pages
    ]
    requests = "".join(
        json.dumps({"arguments": job, "inputs": [], "requestId": number}) + "\n"
        for number, job in enumerate(jobs, 1)
    )
    ended = subprocess.run(
        [*command, program, "--persistent_worker"],
        input=requests,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [json.loads(line) for line in ended.stdout.splitlines()] == [
        {"exitCode": 0, "output": output, "requestId": number}
        for number, output in enumerate(outputs, 1)
    ]
    for job, output in zip(jobs, outputs, strict=True):
        cold = subprocess.run([*command, program, *job], capture_output=True, text=True, check=True)
        assert cold.stdout == output
