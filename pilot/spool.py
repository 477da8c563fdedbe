"""Reports on disk: written before they are sent, removed when the WMS has answered."""

import os
from pathlib import Path

from pydantic import ValidationError

from pilot.domain.model import Token
from pilot.folders import folder_name, token_from
from sluice.contracts.pilots import AttemptReport


class Spool:
    """One folder, one file a report; a report is there completely or not at all."""

    def __init__(self, folder: Path | str) -> None:
        self._folder = str(folder)

    def write(self, report: AttemptReport) -> None:
        """Raises ``OSError``, for example on a full disk."""
        path = self._path((report.id, report.attempt))
        temporary = f"{path}.{os.getpid()}.part"
        with open(temporary, "wb", buffering=0) as file:
            file.write(report.model_dump_json(exclude_defaults=True).encode())
        os.replace(temporary, path)

    def read(self, token: Token) -> AttemptReport | None:
        """None: there is none (that can be read)."""
        try:
            with open(self._path(token), "rb") as file:
                return AttemptReport.model_validate_json(file.read())
        except (FileNotFoundError, ValidationError):
            return None

    def remove(self, token: Token) -> None:
        try:
            os.unlink(self._path(token))
        except FileNotFoundError:
            return

    def tokens(self) -> list[Token]:
        if not os.path.isdir(self._folder):
            return []
        names = (name for name in os.listdir(self._folder) if name.endswith(".json"))
        return sorted(token for name in names if (token := token_from(name)) is not None)

    def _path(self, token: Token) -> str:
        return f"{self._folder}/{folder_name(token)}.json"
