"""Uids of chains and tasks, and names of data sets.

They are computed from what they identify, so that a repeated request creates nothing new.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid5

from sluice.contracts.chains.chains import NewChain
from sluice.contracts.templates.matching import bind, facts_of

#: Namespace of these uids.
_NAMESPACE = UUID("6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11")


@dataclass(frozen=True, slots=True)
class ChainKey:
    """The key of a chain, which is unique within a group (invariant 1).

    It consists of a data set, a version of a template, and a variant. The variant is empty for a
    chain that starts automatically. Otherwise it is the digest of the parameters that somebody
    gave. It includes the group if the data set belongs, or belonged when another chain started, to
    another group.
    """

    dataset: UUID
    template: UUID
    version: int
    variant: str

    @classmethod
    def of(cls, new: NewChain) -> "ChainKey":
        """Return the key for the group that owns the data set."""
        return cls._with_variant(new, select_given_parameters(new))

    @classmethod
    def elsewhere(cls, new: NewChain) -> "ChainKey":
        """Return the key for another group."""
        return cls._with_variant(new, [select_given_parameters(new), new.group])

    @classmethod
    def _with_variant(cls, new: NewChain, distinction: object) -> "ChainKey":
        variant = sha256(_canonical(distinction).encode()).hexdigest() if distinction else ""
        return cls(new.dataset.uid, new.template_id, new.template_version, variant)

    @property
    def uid(self) -> UUID:
        """Return the uid of the chain with this key."""
        text = f"{self.dataset}/{self.template}/{self.version}"
        return uuid5(_NAMESPACE, f"{text}/{self.variant}" if self.variant else text)


def select_given_parameters(new: NewChain) -> Mapping[str, Any]:
    """Return the parameters whose values do not come from the data set's metadata.

    A chain that starts automatically has none.
    """
    matched, _ = bind(new.plan, facts_of(new.dataset))
    return {
        name: value
        for name, value in new.params.items()
        if name not in matched or not _same(value, matched[name])
    }


def _same(value: object, other: object) -> bool:
    return _canonical(value) == _canonical(other)


def _canonical(value: object) -> str:
    """Return the same text for values that are equal as JSON, whatever the order of their keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def rerun_uid(chain: UUID, key: UUID) -> UUID:
    """Return the uid of the rerun of a chain that was requested with this key."""
    return uuid5(chain, f"rerun/{key}")


def task_uid(chain: UUID, step: str) -> UUID:
    """Return the uid of the task of a chain's step."""
    return uuid5(chain, step)


def dataset_name(chain: UUID, step: str, port: str | None) -> str:
    """Return the unique name in the DMS of the data set of ``step`` at ``port``.

    The port None stands for the logs of the step.

    Template names contain no ``~``. It separates ports with a dot, and a port called ``logs``, from
    all others.
    """
    if port is None:
        return f"{chain}.{step}.logs"
    return f"{chain}.{step}.~{port}" if port == "logs" or "." in port else f"{chain}.{step}.{port}"
