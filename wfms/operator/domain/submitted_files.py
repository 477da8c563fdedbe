"""A template's files as they were sent, before anybody has looked into them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from sluice.contracts.problems import Finding
from sluice.contracts.templates import CheckTemplate, NewTemplate
from wfms.operator.domain.errors import RequestRefused

#: Name of a file that came without one.
UNNAMED = "workflow.cwl"


@dataclass(frozen=True, slots=True)
class SubmittedFiles:
    """``files``: by path, or one zip. ``main``: path of the workflow, where it was said."""

    files: Mapping[str, str | bytes]
    main: str | None = None

    @classmethod
    def of(cls, request: NewTemplate | CheckTemplate) -> Self:
        """Raises ``RequestRefused`` where neither a text nor files were sent, or both."""
        if (request.cwl is None) == (request.files is None):
            raise RequestRefused(
                [
                    Finding(
                        message=(
                            "either cwl (the text) or files (texts by their paths) has to be given"
                        )
                    )
                ]
            )
        if request.files is not None:
            return cls(request.files, request.main)
        return cls(
            {request.file if isinstance(request, CheckTemplate) else UNNAMED: request.cwl or ""}
        )
