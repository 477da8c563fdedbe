"""Containers for tools of a workflow inside a job, started by cwltool with the slot's options."""

import os
from typing import Any

from cwltool.context import RuntimeContext

from pilot.node.engines import Engine
from pilot.runner.containers.options import build_engine_command
from sluice.contracts.common.base import Contract


class InnerContainers(Contract):
    """Containers that a workflow may use.

    Attributes:
        options: Options that are added to each ``run``.
        images: Names for the engine, by the names in the document. All images are on the node.
    """

    engine: Engine
    options: list[str]
    images: dict[str, str]


def read_containers(path: str) -> InnerContainers | None:
    """Read the containers of a workflow.

    Returns:
        None without a file, as the node has no engine or the workflow needs none.
    """
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return InnerContainers.model_validate_json(file.read())


class ContainerJobs:
    """Jobs of cwltool whose containers run with the slot's options."""

    def __init__(self, inner: InnerContainers) -> None:
        self._inner = inner

    def runs_in_container(self, requirement: Any, is_required: bool | None) -> bool:
        """Return whether a tool with this container requirement runs in a container."""
        return bool(is_required) or (
            requirement is not None and _image_name(requirement) in self._inner.images
        )

    def adapt(self, kind: Any) -> Any:
        """Return a subclass of a kind of cwltool's jobs that uses the slot's options."""
        inner = self._inner

        class Job(kind):  # type: ignore[misc] # cwltool's types are not followed
            def get_from_requirements(self, requirement: Any, *_: Any, **__: Any) -> str:
                return inner.images[_image_name(requirement)]

            def _preserve_environment_on_containers_warning(self, *_: Any) -> None:
                """Do nothing: the variables for GPUs are harmless in a container."""

            def create_runtime(
                self, environment: Any, context: RuntimeContext
            ) -> tuple[list[str], str | None]:
                runtime, variables = build_engine_command(
                    super().create_runtime, context, inner.engine, inner.options
                )
                environment.clear()
                environment.update(variables)
                cids = (part.partition("=")[2] for part in runtime if part.startswith("--cidfile="))
                return runtime, next(cids, None)

        return Job


def _image_name(requirement: Any) -> str:
    return str(requirement.get("dockerImageId") or requirement.get("dockerPull"))
