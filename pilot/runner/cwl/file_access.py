"""Access of cwltool to files, restricted to the files of the job."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import IO, Any
from urllib.parse import quote

from cwltool.pathmapper import MapperEnt, PathMapper
from cwltool.process import uri_file_path
from cwltool.stdfsaccess import StdFsAccess, abspath
from schema_salad.ref_resolver import file_uri

from pilot.runner.files.access_errors import require_bounded
from pilot.runner.files.job_files import ForeignFileError, JobFiles
from pilot.runner.files.output_globs import matching_paths
from sluice.text.visible_text import quoted

#: Types of staged entries that cwltool creates links for.
_LINKED, _IN_PLACE = ("File", "Directory"), ("WritableFile", "WritableDirectory")


class JobFileAccess(StdFsAccess):  # type: ignore[misc] # cwltool's types are not followed
    """File access of cwltool for the job with these ``job_files``."""

    def __init__(self, basedir: str, job_files: JobFiles) -> None:
        super().__init__(basedir)
        self.job_files = job_files

    def glob(self, pattern: str) -> list[str]:
        """Return the URIs of the files that match a pattern."""
        return [
            file_uri(self._require_text(path))
            for path in matching_paths(self._abs(pattern), self.job_files)
        ]

    def open(self, fn: str, mode: str) -> IO[Any]:
        """Open a file of the job."""
        return os.fdopen(
            self.job_files.open(self._abs(fn)), mode, encoding=None if "b" in mode else "utf-8"
        )

    def exists(self, fn: str) -> bool:
        """Return whether a file exists."""
        return self.job_files.status(self._abs(fn)) is not None

    def size(self, fn: str) -> int:
        """Return the size of a file in bytes."""
        path = self._abs(fn)
        status = self.job_files.status(path)
        if status is None:
            raise FileNotFoundError(path)
        return status.st_size

    def isfile(self, fn: str) -> bool:
        """Return whether a path is a regular file."""
        return self.job_files.is_file(self._abs(fn))

    def isdir(self, fn: str) -> bool:
        """Return whether a path is a folder."""
        return self.job_files.is_folder(self._abs(fn))

    def listdir(self, fn: str) -> list[str]:
        """Return the URIs of the entries of a folder."""
        return [
            self._check_bounds(abspath(quote(self._require_text(name)), fn))
            for name in self.job_files.list_names(self._abs(fn))
        ]

    def _check_bounds(self, path: str) -> str:
        self.job_files.cost.add_path(path)
        require_bounded(self.job_files, path)
        return path

    def _abs(self, p: str) -> str:
        """Return the absolute path of a file.

        Each search passes through here, so the cost is checked.

        Raises:
            InvalidOutputError: The search costs too much.
        """
        path = str(super()._abs(p))
        require_bounded(self.job_files, path)
        return path

    def _require_text(self, path: str) -> str:
        """Check that a path is valid text, as CWL requires.

        Raises:
            ForeignFileError: The path is not valid UTF-8.
        """
        try:
            path.encode()
        except UnicodeEncodeError as error:
            reason = (
                f"the name {self.job_files.quote_path(path)} is not valid UTF-8: let the tool"
                " give it another"
            )
            raise ForeignFileError(path, reason, left_by_tool=True) from error
        return path

    def realpath(self, path: str) -> str:
        """Return the path unchanged.

        The paths of a job's folders have no links, so no time is spent on a search for links.
        """
        return path


class JobFileMapper(PathMapper):  # type: ignore[misc] # cwltool's types are not followed
    """Maps the files of a tool to their places, both inside the job's folders.

    The arguments are those of cwltool's mapper after ``job_files``.
    """

    def __init__(self, job_files: JobFiles, *arguments: Any, **options: Any) -> None:
        self.job_files = job_files
        super().__init__(*arguments, **options)

    def visit(self, obj: Any, stagedir: str, basedir: str, **options: bool) -> None:
        """Map a file or directory after a check of its location and name."""
        location, name = obj["location"], obj["basename"]
        if not location.startswith("_:"):
            self.job_files.require(abspath(location, basedir))
        if "/" in name or name in (".", ".."):
            raise ForeignFileError(name, f"{quoted(name)} is not a file name")
        super().visit(obj, stagedir, basedir, **options)
        self._require_inside(self._pathmap[location].target)

    def _require_inside(self, target: str) -> None:
        """Check that a target is in the job's folders.

        In a container each target is allowed, as it sees only its own files and those of the job.
        """
        in_container = not self.job_files.contains(f"{self.stagedir}/")
        if ".." in target.split("/") or not (in_container or self.job_files.contains(target)):
            raise ForeignFileError(
                target, f"{quoted(target)} is a place outside of the job's folders"
            )


class InPlaceMapper(JobFileMapper):
    """Uses inputs in the job's folder in place and stages the rest as cwltool does.

    An object that is partly a literal, such as a directory made of files, is staged with all its
    parts.
    """

    def setup(self, referenced_files: Sequence[Any], basedir: str) -> None:
        """Map the files, those in the job's folder to their own paths."""
        for file in referenced_files:
            if self.separateDirs and self._is_in_place(file, "/" + file["basename"]):
                self._map_in_place(file)
            else:
                super().setup([file], basedir)

    def _is_in_place(self, value: Any, place: str) -> bool:
        """Return whether tools find a value and all its parts where they are.

        ``place`` is the end that its path must have.
        """
        path = _local_path(value["location"])
        if path is None or value.get("writable"):
            return False
        if not path.startswith(f"{self.stagedir}/") or "/../" in path:
            return False
        return path.endswith(place) and all(
            self._is_in_place(part, place) for part, place in _parts_with_places(value, path)
        )

    def _map_in_place(self, value: Any) -> None:
        path = str(_local_path(value["location"]))
        self._pathmap.setdefault(value["location"], MapperEnt(path, path, value["class"], False))
        for part, _ in _parts_with_places(value, path):
            self._map_in_place(part)


def create_access_factory(job_files: JobFiles) -> Callable[[str], JobFileAccess]:
    """Return a factory for ``make_fs_access`` of a context."""
    return partial(JobFileAccess, job_files=job_files)


def create_mapper_factory(
    job_files: JobFiles, kind: type[JobFileMapper]
) -> Callable[..., JobFileMapper]:
    """Return a factory for ``path_mapper`` of a context."""
    return partial(kind, job_files)


def relink_initial(
    job_files: JobFiles,
    pathmapper: Any,
    host_outdir: str,
    container_outdir: str,
    *,
    inplace_update: bool = False,
) -> None:
    """Call ``relink`` with the signature that cwltool uses."""
    relink(
        job_files,
        pathmapper,
        outdir=host_outdir,
        inner_outdir=container_outdir,
        in_place=inplace_update,
    )


def relink(
    job_files: JobFiles, mapper: Any, *, outdir: str, inner_outdir: str, in_place: bool
) -> None:
    """Restore the links to files that were staged into the tool's folder.

    The tool may have left something else in their places. cwltool does the same, but here only in
    the job's folders. ``inner_outdir`` is ``outdir`` as the tool knows it.

    Raises:
        ForeignFileError: A place is outside the job's folders.
        OSError: A link could not be created.
    """
    kinds = (*_LINKED, *_IN_PLACE) if in_place else _LINKED
    for _, entry in mapper.items_exclude_children():
        if entry.staged and entry.type in kinds and entry.target.startswith(inner_outdir):
            place = os.path.join(outdir, entry.target[len(inner_outdir) + 1 :])
            job_files.put_link(place, None if entry.resolved.startswith("_:") else entry.resolved)


def _parts_with_places(value: Any, path: str) -> Iterator[tuple[Any, str]]:
    """Yield the parts of a File or Directory at ``path``, and where tools look for each."""
    for part in value.get("secondaryFiles", ()):
        yield part, os.path.join(os.path.dirname(path), part["basename"])
    for part in value.get("listing", ()):
        yield part, os.path.join(path, part["basename"])


def _local_path(location: str) -> str | None:
    return str(uri_file_path(location)) if location.startswith("file://") else None
