"""Read the table of wrong templates."""

import re
from dataclasses import dataclass
from pathlib import Path

from sluice.contracts.common.problems import Finding

_HERE = Path(__file__).parent
FOLDER = _HERE / "templates"
_EXPECTED = re.compile(
    r"(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<severity>error|warning): (?P<part>.+)"
)


@dataclass(frozen=True, slots=True)
class ExpectedFinding:
    """``part``: of the message."""

    file: str
    line: int
    column: int
    severity: str
    part: str

    def is_met_by(self, finding: Finding) -> bool:
        place = (finding.file, finding.line, finding.column, finding.severity)
        return (
            place == (self.file, self.line, self.column, self.severity)
            and self.part in finding.message
        )


@dataclass(frozen=True, slots=True)
class WrongTemplate:
    """``files``: text by path. ``main``: the workflow among them. ``findings``: all, in order."""

    files: dict[str, str]
    main: str
    findings: list[ExpectedFinding]

    @property
    def is_refused(self) -> bool:
        """Whether there is an error among the findings."""
        return any(finding.severity == "error" for finding in self.findings)


def read_wrong_templates() -> dict[str, WrongTemplate]:
    """By name, as in the table; each template stands in it."""
    templates: dict[str, WrongTemplate] = {}
    for line in (_HERE / "findings.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            templates[name] = WrongTemplate(_read_files(FOLDER / name), "workflow.cwl", [])
        elif line and not line.startswith("#"):
            match = _EXPECTED.fullmatch(line)
            assert match is not None, f"not a finding: {line}"
            templates[name].findings.append(
                ExpectedFinding(
                    match["file"],
                    int(match["line"]),
                    int(match["column"]),
                    match["severity"],
                    match["part"],
                )
            )
    return templates


def _read_files(path: Path) -> dict[str, str]:
    if path.is_file():
        return {"workflow.cwl": path.read_text(encoding="utf-8")}
    return {
        str(file.relative_to(path)): file.read_text(encoding="utf-8")
        for file in sorted(path.rglob("*.cwl"))
    }
