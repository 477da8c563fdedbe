"""The files of a template as they were sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.templates import CheckTemplate, NewTemplate
from wfms.operator.errors import RequestRefused

#: The name of a file that was sent without one.
UNNAMED = "workflow.cwl"


@dataclass(frozen=True, slots=True)
class SubmittedFiles:
    """Files that were not checked yet.

    Attributes:
        files: The files by path, or one zip archive.
        main: The path of the workflow, if it was sent.
    """

    files: Mapping[str, str | bytes]
    main: str | None = None

    @classmethod
    def of(cls, request: NewTemplate | CheckTemplate) -> Self:
        """Return the files of a request.

        Raises:
            RequestRefused: The request has neither a text nor files, or both.
        """
        if (request.cwl is None) == (request.files is None):
            raise RequestRefused(
                [Finding(message=("give either cwl (the text) or files (texts by their paths)"))]
            )
        if request.files is not None:
            return cls(request.files, request.main)
        return cls(
            {request.file if isinstance(request, CheckTemplate) else UNNAMED: request.cwl or ""}
        )
