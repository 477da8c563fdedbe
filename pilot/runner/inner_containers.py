"""Containers of tools that a workflow inside a job runs: cwltool starts them, and as the slot would."""

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from cwltool.command_line_tool import CommandLineTool
from cwltool.context import LoadingContext, RuntimeContext
from cwltool.job import CommandLineJob
from cwltool.workflow import default_make_tool

from pilot.engines import Engine
from pilot.runner.containers import check_mounts, paths_in, runtime_of
from sluice.contracts.base import Contract


class InnerContainers(Contract):
    """``options``: of each ``run``. ``images``: name in the document → what to call it by; all are on the node."""

    engine: Engine
    options: list[str]
    images: dict[str, str]


def read_inner(path: str) -> InnerContainers | None:
    """None where there is no such file: the node has no engine, or the workflow needs none."""
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return InnerContainers.model_validate_json(file.read())


def tool_maker(inner: InnerContainers, folder: str, order: str) -> Callable[[Any, LoadingContext], Any]:
    """Makes processes whose containers are run so. ``folder``: the job's; ``order``: path of its job order."""
    with open(order) as file:
        given = [folder, *paths_in(json.load(file))]

    class Tool(CommandLineTool):  # type: ignore[misc] # cwltool's types are not followed
        def make_job_runner(self, context: RuntimeContext) -> Any:
            asked, required = self.get_requirement("DockerRequirement")
            known = asked is not None and _name(asked) in inner.images
            if not known and not required:
                return CommandLineJob
            return _as_the_slot_does(super().make_job_runner(context), inner, given)

    def make(document: Any, context: LoadingContext) -> Any:
        is_tool = isinstance(document, dict) and document.get("class") == "CommandLineTool"
        return Tool(document, context) if is_tool else default_make_tool(document, context)

    return make


def _as_the_slot_does(kind: Any, inner: InnerContainers, given: Sequence[str]) -> Any:
    class Job(kind):  # type: ignore[misc]
        def get_from_requirements(self, asked: Any, *_: Any, **__: Any) -> str:
            return inner.images[_name(asked)]

        def create_runtime(self, environment: Any, context: RuntimeContext) -> tuple[list[str], str | None]:
            check_mounts(self, given)
            runtime, own = runtime_of(super().create_runtime, context, inner.engine, inner.options)
            environment.clear()
            environment.update(own)
            cids = (part.partition("=")[2] for part in runtime if part.startswith("--cidfile="))
            return runtime, next(cids, None)

    return Job


def _name(asked: Any) -> str:
    return str(asked.get("dockerImageId") or asked.get("dockerPull"))
