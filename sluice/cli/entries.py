"""From paths on the command line to the entries of a data set: plain files, or directories and files with others beside them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice.contracts.plan import DataEntries, SecondaryFile
from sluice.contracts.problems import Unprocessable


@dataclass(frozen=True, slots=True)
class ToBundle:
    """A CWL value to be brought in as one file, called after ``source``."""

    source: Path
    value: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.source.name}.tar"


ToBringIn = Path | ToBundle


def require_paths(paths: Sequence[Path]) -> None:
    """Raises ``Unprocessable`` naming those that are not there."""
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise Unprocessable("no such file: " + ", ".join(map(str, missing)))


def input_files(paths: Sequence[Path]) -> list[Path]:
    """The files named, folders replaced by their files in order of name. Raises ``Unprocessable`` naming what is not there."""
    require_paths(paths)
    files = [file for path in paths for file in (sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path])]
    if not files:
        raise Unprocessable("no input: the folder is empty")
    return files


def entries_of(paths: Sequence[Path], wanted: DataEntries) -> list[ToBringIn]:
    """In order, as the template wants its data set. Raises ``Unprocessable`` where they cannot be that."""
    require_paths(paths)
    if wanted.type == "Directory":
        wrong = [str(path) for path in paths if not path.is_dir()]
        if wrong:
            raise Unprocessable("the template takes directories, and these are none: " + ", ".join(wrong))
        return [ToBundle(Path(path.resolve().name), _object(path)) for path in paths]
    files = input_files(paths)
    return _with_secondary(files, wanted.secondary_files) if wanted.secondary_files else list(files)


def _with_secondary(files: Sequence[Path], patterns: Sequence[SecondaryFile]) -> list[ToBringIn]:
    """Files that lie beside others as their secondary files are no entries of their own."""
    beside = {file: _beside(file, patterns) for file in files}
    secondary = Counter(other.resolve() for others in beside.values() for other, _ in others)
    first = [file for file in files if file.resolve() not in secondary]
    missing = [f"{file.name}: {other.name}" for file in first for other, needed in beside[file] if needed and not other.exists()]
    if missing:
        raise Unprocessable(f"files that must lie beside others (secondaryFiles) are not there: {', '.join(missing)}")
    if not first:
        raise Unprocessable("each of the files is a secondary file of another: none is left to be an entry")
    return [
        ToBundle(
            Path(file.name), {**_object(file), "secondaryFiles": [_object(other) for other, _ in beside[file] if other.exists()]}
        )
        for file in first
    ]


def _beside(file: Path, patterns: Sequence[SecondaryFile]) -> list[tuple[Path, bool]]:
    """Where its secondary files would be, and whether each must be there."""
    names = {secondary_name(file.name, pattern.pattern): pattern.required for pattern in patterns}
    return [(file.with_name(name), required) for name, required in names.items() if name != file.name]


def secondary_name(name: str, pattern: str) -> str:
    """CWL's rule: ``^.bai`` makes ``x.bam`` to ``x.bai``, ``.bai`` to ``x.bam.bai``."""
    while pattern.startswith("^"):
        name, pattern = name.rpartition(".")[0] or name, pattern[1:]
    return name + pattern


def _object(path: Path) -> dict[str, Any]:
    path = path.absolute()
    name = path.name if path.name not in ("", "..") else path.resolve().name
    return {"class": "Directory" if path.is_dir() else "File", "location": path.as_uri(), "basename": name}
