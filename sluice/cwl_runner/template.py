"""The templates that invocations run in: one for each kind of node that they need."""

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
    """Of one invocation. ``ram``, ``disk`` in MiB, ``time_limit`` in seconds; 0: not asked for."""

    cores: float = 1.0
    ram: int = 0
    disk: int = 0
    time_limit: float = 0.0
    #: A CUDARequirement, as JSON; empty: none.
    gpu: str = ""
    #: Name of the image of a container that it must have.
    container: str = ""
    #: How its tool stays loaded (``Warm``), as JSON; empty: it does not.
    warm: str = ""
    #: Digest of what is loaded then.
    loads: str = ""
    #: What is kept for another attempt (``Checkpoint``), as JSON; empty: nothing.
    checkpoint: str = ""
    #: Nothing else is in its chain, which fails with it.
    alone: bool = False

    @classmethod
    def asked(
        cls,
        *,
        cores: float | None = None,
        ram: float | None = None,
        disk: float = 0,
        time_limit: float = 0,
        gpu: Mapping[str, Any] | None = None,
        container: str = "",
    ) -> "InvocationNeeds":
        """As a tool asks for; None: it does not say."""
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
        """The template."""
        ram = f"ramMin: {self.ram}, " if self.ram else ""
        amounts = {
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
            **amounts, container=container, hints=_GPU.format(gpu=self.gpu) if self.gpu else ""
        )

    @property
    def name(self) -> str:
        """The same text always has the same name, and another text another."""
        return f"cwl-runner-{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"
