"""Uids of chains and tasks, and names of data sets: worked out from what they stand for, so that a
repetition makes nothing new."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid5

from sluice.contracts.chains import NewChain
from sluice.contracts.matching import bind, facts_of

#: Namespace of the ids made here.
_NAMESPACE = UUID("6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11")


@dataclass(frozen=True, slots=True)
class ChainKey:
    """What a group has one chain of (invariant 1): a data set, a version of a template, and
    ``variant``: empty for the chain that starts by itself, for another one the digest of the
    parameters that somebody gave. Where the data set is another group's, or was when another one
    began, the group is in the digest."""

    dataset: UUID
    template: UUID
    version: int
    variant: str

    @classmethod
    def of(cls, new: NewChain) -> "ChainKey":
        """As the group's whose data set it is."""
        return cls._named(new, given_by_hand(new))

    @classmethod
    def elsewhere(cls, new: NewChain) -> "ChainKey":
        """As another group's."""
        return cls._named(new, [given_by_hand(new), new.group])

    @classmethod
    def _named(cls, new: NewChain, named: object) -> "ChainKey":
        variant = sha256(_canonical(named).encode()).hexdigest() if named else ""
        return cls(new.dataset.uid, new.template_id, new.template_version, variant)

    @property
    def uid(self) -> UUID:
        named = f"{self.dataset}/{self.template}/{self.version}"
        return uuid5(_NAMESPACE, f"{named}/{self.variant}" if self.variant else named)


def given_by_hand(new: NewChain) -> Mapping[str, Any]:
    """The parameters whose values do not come from the data set's metadata anyway: what a chain
    that starts by itself has not."""
    bound, _ = bind(new.plan, facts_of(new.dataset))
    return {
        name: value
        for name, value in new.params.items()
        if name not in bound or not _same(value, bound[name])
    }


def _same(value: object, other: object) -> bool:
    return _canonical(value) == _canonical(other)


def _canonical(value: object) -> str:
    """Equal for values that are equal as JSON, in whatever order their keys came."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def rerun_uid(chain: UUID, key: UUID) -> UUID:
    """The rerun of a chain that was asked for with this key."""
    return uuid5(chain, f"rerun/{key}")


def task_uid(chain: UUID, step: str) -> UUID:
    return uuid5(chain, step)


def dataset_name(chain: UUID, step: str, port: str | None) -> str:
    """Name in the DMS of the data set that ``step`` writes at ``port`` (None: its logs): another
    one for each. Templates have no ``~`` in their names, so it keeps ports with a dot, or called
    like the logs, apart from others."""
    if port is None:
        return f"{chain}.{step}.logs"
    return f"{chain}.{step}.~{port}" if port == "logs" or "." in port else f"{chain}.{step}.{port}"
