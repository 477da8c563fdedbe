"""Ids and names that follow from what they stand for, so that a repetition makes nothing new."""

from uuid import UUID, uuid5

#: Namespace of the ids made here.
_NAMESPACE = UUID("6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11")


def chain_uid(dataset: UUID, template: UUID, version: int) -> UUID:
    """The chain that carries this data set through this version of this template (invariant 1: there is one)."""
    return uuid5(_NAMESPACE, f"{dataset}/{template}/{version}")


def task_uid(chain: UUID, step: str) -> UUID:
    return uuid5(chain, step)


def dataset_name(chain: UUID, step: str, port: str | None) -> str:
    """Name in the DMS of the data set that ``step`` writes at ``port`` (None: its logs): another one for each. Templates have no
    ``~`` in their names, so it keeps ports with a dot, or called like the logs, apart from others."""
    if port is None:
        return f"{chain}.{step}.logs"
    return f"{chain}.{step}.~{port}" if port == "logs" or "." in port else f"{chain}.{step}.{port}"
