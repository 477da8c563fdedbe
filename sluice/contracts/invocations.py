"""Invocations: files that say what is to be run, for steps that carry out whatever their files
say."""

from typing import Any

from pydantic import Field

from sluice.contracts.base import Contract


class Invocation(Contract):
    """A CommandLineTool with the job order for one run of it.

    Every File and Directory in ``process`` and ``order`` has as its ``location`` a place in the
    storage of the invocation (``<data set>/<name>``), where a Directory is a bundle of it, and as
    its ``checksum`` that of the catalogue (``sha256:…``). Literals have neither. The checksum shows
    that whoever wrote the invocation may read the file.
    """

    process: dict[str, Any]
    order: dict[str, Any] = Field(default_factory=dict)
    #: The CWL version of a ``process`` that cwltool has loaded and written out, with all that it
    #: inherits; empty: it stands as a person wrote it.
    loaded_from: str = ""
