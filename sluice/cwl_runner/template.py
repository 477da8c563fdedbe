"""The templates in which invocations run, one for each combination of needs."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_TEXT = """\
cwlVersion: v1.2
class: Workflow
doc: Runs of CWL tools that `sluice cwl-runner` asked for; each file of the data set is one of them.
$namespaces: {{sluice: "urn:sluice:cwl:", cwltool: "http://commonwl.org/cwltool#"}}
sluice:retention: {{input: delete}}
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{invocations: "File[]"}}
outputs:
  results: {{type: "File[]", outputSource: invoke/result}}
steps:
  invoke:
    sluice:invoke: true
{boundary}\
{warm}\
{checkpoint}\
    scatter: invocation
    in: {{invocation: invocations}}
    out: [result]
    run:
      class: Operation
{loads}\
      requirements:
        ResourceRequirement: {{coresMin: {cores:g}, {ram}tmpdirMin: {disk}, outdirMin: 0}}
        ToolTimeLimit: {{timelimit: {time_limit:g}}}
{container}\
{hints}\
      inputs: {{invocation: File}}
      outputs: {{result: File}}
"""
_GPU = """\
      hints:
        cwltool:CUDARequirement: {gpu}
"""


@dataclass(frozen=True)
class InvocationNeeds:
    """The needs of an invocation.

    ``ram`` and ``disk`` are in MiB, ``time_limit`` is in seconds; 0 means no requirement.
    """

    cores: float = 1.0
    ram: int = 0
    disk: int = 0
    time_limit: float = 0.0
    #: The CUDARequirement as JSON, or an empty text.
    gpu: str = ""
    #: The image of the container, or an empty text.
    container: str = ""
    #: The warm worker (``Warm``) as JSON, or an empty text.
    warm: str = ""
    #: The digest of what the warm worker loads.
    loads: str = ""
    #: The ``Checkpoint`` as JSON, or an empty text.
    checkpoint: str = ""
    #: Whether it is the only invocation in its chain, which then fails with it.
    alone: bool = False

    @classmethod
    def from_amounts(
        cls,
        *,
        cores: float | None = None,
        ram: float | None = None,
        disk: float = 0,
        time_limit: float = 0,
        gpu: Mapping[str, Any] | None = None,
        container: str = "",
    ) -> "InvocationNeeds":
        """Return the needs of a tool. None means that the tool does not state the amount."""
        return cls(
            cores=float(cores or cls.cores),
            ram=math.ceil(ram or 0),
            disk=math.ceil(disk),
            time_limit=float(time_limit),
            gpu="" if gpu is None else json.dumps(gpu, sort_keys=True),
            container=container,
        )

    @property
    def text(self) -> str:
        """Return the text of the template."""
        ram = f"ramMin: {self.ram}, " if self.ram else ""
        fields = {
            "cores": self.cores,
            "ram": ram,
            "disk": self.disk,
            "time_limit": self.time_limit,
            "warm": f"    sluice:warm: {self.warm}\n" if self.warm else "",
            "checkpoint": (
                f"    sluice:checkpoint: {self.checkpoint}\n" if self.checkpoint else ""
            ),
            "boundary": "" if self.alone else "    sluice:boundary: {minimum: 0}\n",
            "loads": f'      label: "{self.loads}"\n' if self.loads else "",
        }
        container = (
            f"        DockerRequirement: {{dockerPull: {json.dumps(self.container)}}}\n"
            if self.container
            else ""
        )
        return _TEXT.format(
            **fields, container=container, hints=_GPU.format(gpu=self.gpu) if self.gpu else ""
        )

    @property
    def name(self) -> str:
        """Return the name of the template, which depends only on its text."""
        return f"cwl-runner-{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"
