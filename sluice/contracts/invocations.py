"""Invocations: files that say what is to be run, for steps that carry out whatever their files say."""

from typing import Any

from pydantic import Field

from sluice.contracts.base import Contract


class Invocation(Contract):
    """A CommandLineTool with the job order for one run of it.

    Every File and Directory in ``process`` and ``order`` has as its ``location`` a place in the storage of the invocation
    (``<data set>/<name>``), where a Directory is a bundle of it. Literals have none.
    """

    process: dict[str, Any]
    order: dict[str, Any] = Field(default_factory=dict)
    #: The CWL version of ``process`` where a runner has loaded it and written it out; empty: it stands as a person wrote it.
    loaded_from: str = ""
    #: Those of the workflow and step around a loaded process, the nearest last.
    requirements: list[dict[str, Any]] = Field(default_factory=list)
    hints: list[dict[str, Any]] = Field(default_factory=list)
