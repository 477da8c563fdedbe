"""Loads what the jobs of a task run."""

import json
import os

from cwltool.load_tool import load_tool

from pilot.runner.failures import AttemptError
from pilot.runner.run_workflow import loading_context
from pilot.runner.tool import CWL_ERRORS, LoadedTool, plain
from pilot.runner.workflow import LoadedWorkflow
from sluice.contracts.pilots import PilotTask
from sluice.contracts.states import ErrorClass

Loaded = LoadedTool | LoadedWorkflow


def load(task: PilotTask, folder: str) -> Loaded:
    """Loads a task's executable. ``folder``: for its description, which cwltool reads from a file. Raises ``AttemptError``."""
    path = f"{folder}/{task.uid}.{os.getpid()}.cwl"
    with open(path, "w") as file:
        json.dump(task.executable, file)
    kind = LoadedTool if task.executable.get("class") == "CommandLineTool" else LoadedWorkflow
    try:
        return kind(task, load_tool(f"file://{path}", loading_context()))
    except CWL_ERRORS as error:
        raise AttemptError(ErrorClass.TOOL_FAILED, f"the tool of step {task.step!r} cannot be used: {plain(error)}") from error
    finally:
        os.unlink(path)
