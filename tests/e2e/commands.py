"""Run the command as people type it, and write workflows and files for it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.e2e.systems import NO_CONTAINERS
from tests.servers import commands

SLUICE = str(Path(sys.executable).parent / "sluice")

SHOUT = """\
cwlVersion: v1.2
$namespaces: {{sluice: "urn:sluice:cwl:"}}
class: Workflow
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs:
  texts: File[]
  suffix: {{type: string, default: "!"}}
outputs:
  all: {{type: File, outputSource: join/joined}}
steps:
  shout:
    scatter: text
    in: {{text: texts, suffix: suffix}}
    out: [loud]
    sluice:retry: {{attempts: {attempts}}}
    run:
      class: CommandLineTool
      baseCommand: {command}
      requirements: {{ToolTimeLimit: {{timelimit: {limit}}}}}
      inputs:
        text: {{type: File, inputBinding: {{position: 1}}}}
        suffix: {{type: string, inputBinding: {{position: 2}}}}
      outputs:
        loud: {{type: File, outputBinding: {{glob: {glob}}}}}
      stdout: loud.txt
  join:
    in: {{parts: shout/loud}}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      requirements: {{ToolTimeLimit: {{timelimit: 60}}}}
      inputs: {{parts: "File[]"}}
      outputs: {{joined: {{type: stdout}}}}
      stdout: joined.txt
"""

UPPER = '[python3, -c, "import sys; print(open(sys.argv[1]).read().strip().upper() + sys.argv[2])"]'


def run_sluice(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = os.environ | NO_CONTAINERS
    done = commands.run("sluice", *arguments, env=environment)
    assert done.returncode == code, (
        f"exit {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}"
    )
    assert "Traceback" not in done.stderr
    return done


def write_workflow(
    path: Path, *, command: str = UPPER, limit: int = 60, glob: str = "loud.txt", attempts: int = 3
) -> Path:
    path.write_text(SHOUT.format(command=command, limit=limit, glob=glob, attempts=attempts))
    return path


def write_texts(folder: Path, *words: str) -> list[str]:
    folder.mkdir(exist_ok=True)
    for number, word in enumerate(words):
        (folder / f"text {number}.txt").write_text(word + "\n")
    return [str(path) for path in sorted(folder.iterdir())]


def interrupt_run(*arguments: str) -> tuple[str, str]:
    """Interrupt a run with Ctrl-C when its chain exists; return the chain and the output."""
    command = [SLUICE, "run", *arguments]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ | NO_CONTAINERS
    ) as process:
        assert process.stderr is not None
        chain = next(line for line in process.stderr if line.startswith("chain ")).split()[1]
        process.send_signal(signal.SIGINT)
        stderr = process.stderr.read()
    assert process.returncode == 130
    assert "Traceback" not in stderr
    return chain, stderr
