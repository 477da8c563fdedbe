"""Registration and sign-off of pilots."""

from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from sluice.contracts.common.base import (
    Contract,
    Name,
)
from sluice.contracts.common.bounds import MAX_GPUS, MAX_WORD, NewWord
from sluice.contracts.common.wording import in_words
from sluice.contracts.pilots.leases import JobToken
from sluice.contracts.pilots.nodes import HostName, NodeResources, WithIsolation

#: Maximum of the cores of a node, and of its MiB of memory or disk.
MAX_NODE_SHARE = 2**40


def _check_resources(node: NodeResources) -> NodeResources:
    count = max(len(node.gpus), len(node.devices))
    if count > MAX_GPUS or any(len(gpu) > MAX_WORD for gpu in node.gpus):
        raise in_words(
            f"a node names at most {MAX_GPUS} GPUs, each with {MAX_WORD} characters at most"
        )
    if len({gpu.uuid for gpu in node.devices}) < len(node.devices):
        raise in_words("a node lists each of its GPUs once")
    amounts = {"cores": node.cores, "ram": node.ram, "disk": node.disk}
    for name, amount in amounts.items():
        if not 0 <= amount <= MAX_NODE_SHARE:
            raise in_words(f"{name}: {amount} is not from 0 to {MAX_NODE_SHARE}")
    return node


class RegisterPilot(WithIsolation):
    """A request to register a pilot.

    Attributes:
        uid: The uid, which the pilot chooses. A repeated registration is the same pilot.
    """

    uid: UUID
    name: Name
    host: HostName
    slots: Annotated[int, Field(ge=1, le=4096)]
    resources: Annotated[NodeResources, AfterValidator(_check_resources)]
    version: NewWord


class Registration(Contract):
    """The answer to a registration.

    Attributes:
        heartbeat: Seconds between two heartbeats of the pilot.
        lease: Seconds that a lease lasts. The pilot stops a job before its lease ends, unless the
            lease is renewed.
    """

    heartbeat: float
    lease: float


class SignOff(Contract):
    """A message that the pilot ends.

    Attributes:
        returned: Jobs that were not started. They are ready again at once.
    """

    returned: list[JobToken] = Field(default_factory=list)
