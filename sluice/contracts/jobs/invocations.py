"""Invocations: input files that say which tool a job runs, and on which inputs."""

from typing import Any

from pydantic import Field

from sluice.contracts.common.base import Contract


class Invocation(Contract):
    """A CommandLineTool with the job order for one run of it.

    Each File and Directory in both fields has a ``location`` of the form ``<data set>/<name>``. It
    is on the storage that holds the invocation. A Directory is stored there as a bundle. The
    ``checksum`` is the one of the catalogue (``sha256:…``). It shows that the author of the
    invocation may read the file. Literals have neither.

    Attributes:
        process: The tool.
        order: The job order.
        loaded_from: The original CWL version of a ``process`` that cwltool has loaded and written
            out, with everything that it inherits. Empty for a process as a person wrote it.
    """

    process: dict[str, Any]
    order: dict[str, Any] = Field(default_factory=dict)
    loaded_from: str = ""
