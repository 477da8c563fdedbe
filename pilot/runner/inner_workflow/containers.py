"""Containers of tools that a workflow inside a job runs: cwltool starts them, and as the slot
would."""

import os
from typing import Any

from cwltool.context import RuntimeContext

from pilot.node.engines import Engine
from pilot.runner.containers.options import runtime_of
from sluice.contracts.base import Contract


class InnerContainers(Contract):
    """``options``: of each ``run``. ``images``: name in the document → what to call it by; all are
    on the node."""

    engine: Engine
    options: list[str]
    images: dict[str, str]


def read_inner(path: str) -> InnerContainers | None:
    """None where there is no such file: the node has no engine, or the workflow needs none."""
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return InnerContainers.model_validate_json(file.read())


class JobsInContainers:
    """Jobs of cwltool's whose containers are run as the slot would."""

    def __init__(self, inner: InnerContainers) -> None:
        self._inner = inner

    def wanted(self, asked: Any, required: bool | None) -> bool:
        """Is a tool that asks for this container to be run in one?"""
        return bool(required) or (asked is not None and _name(asked) in self._inner.images)

    def adapted(self, kind: Any) -> Any:
        inner = self._inner

        class Job(kind):  # type: ignore[misc] # cwltool's types are not followed
            def get_from_requirements(self, asked: Any, *_: Any, **__: Any) -> str:
                return inner.images[_name(asked)]

            def _preserve_environment_on_containers_warning(self, *_: Any) -> None:
                """Those that tell of GPUs do no harm there."""

            def create_runtime(
                self, environment: Any, context: RuntimeContext
            ) -> tuple[list[str], str | None]:
                runtime, own = runtime_of(
                    super().create_runtime, context, inner.engine, inner.options
                )
                environment.clear()
                environment.update(own)
                cids = (part.partition("=")[2] for part in runtime if part.startswith("--cidfile="))
                return runtime, next(cids, None)

        return Job


def _name(asked: Any) -> str:
    return str(asked.get("dockerImageId") or asked.get("dockerPull"))
