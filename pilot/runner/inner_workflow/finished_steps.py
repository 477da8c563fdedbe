"""Results of finished tools of a workflow, which the next attempt at the job takes over.

The checkpoint of the job (``FINISHED_STEPS``) has them. A tool's results are taken over if it has
the same name and the same inputs: files of the job, or results that were kept.
"""

import hashlib
import json
import logging
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cwltool.pathmapper import uri_file_path
from schema_salad.ref_resolver import file_uri

from sluice.contracts.jobs.checkpoints import FINISHED_STEPS

_log = logging.getLogger("cwltool")
_RESULT, _FILES = "result.json", "files"


class _NotKeepableError(Exception):
    """The inputs or results of a tool cannot be kept."""


class FinishedSteps:
    """The kept results below ``out``, the folder in which the job leaves its files.

    ``order`` is the job order of the workflow.
    """

    def __init__(self, out: str, order: Any) -> None:
        self._folder = Path(out, FINISHED_STEPS)
        #: The origin of files and folders whose content is the same in each attempt, by path.
        self._origins: dict[str, str] = {}
        for number, value in enumerate(_list_files(order)):
            if (path := _find_path(value)) is not None:
                self._origins[path] = f"order/{number}"

    def wrap_job(self, kind: Any) -> Any:
        """Return a subclass of a kind of cwltool's jobs whose results are kept or taken over."""
        steps = self

        class Job(kind):  # type: ignore[misc] # cwltool's types are not followed
            def run(self, context: Any, tmpdir_lock: Any = None) -> None:
                job: Any = self
                key = steps._find_key(job)
                results = None if key is None else steps._take_over(key, job.outdir)
                if results is not None:
                    _log.info("[job %s] taken over from an earlier attempt", job.name)
                    with context.workflow_eval_lock:
                        job.output_callback(results, "success")
                    return
                if key is not None:
                    job.output_callback = steps._keep_first(key, job.outdir, job.output_callback)
                super().run(context, tmpdir_lock)

        return Job

    def _find_key(self, job: Any) -> str | None:
        """Return the name under which the results of a job are kept, or None if they cannot be."""
        if job.inplace_update:
            return None
        try:
            description = json.dumps([job.name, self._describe(job.builder.job)], sort_keys=True)
        except (_NotKeepableError, TypeError, ValueError):
            return None
        return hashlib.sha256(description.encode()).hexdigest()[:32]

    def _describe(self, value: Any) -> Any:
        """Return an input of a tool with the origins of its files in place of their paths.

        Raises:
            _NotKeepableError: A file has no known origin.
        """
        match value:
            case {"class": "File" | "Directory"}:
                others = [self._describe(each) for each in value.get("secondaryFiles", ())]
                return [value["class"], value.get("basename"), self._find_origin(value), others]
            case Mapping():
                return {key: self._describe(inner) for key, inner in value.items()}
            case list():
                return [self._describe(item) for item in value]
        return value

    def _find_origin(self, value: Mapping[str, Any]) -> Any:
        path = _find_path(value)
        if path is None:
            if "contents" in value:
                return value["contents"]
            return [self._describe(entry) for entry in value.get("listing", ())]
        for folder in (path, *map(str, Path(path).parents)):
            if folder in self._origins:
                return self._origins[folder] + path.removeprefix(folder)
        raise _NotKeepableError

    def _keep_first(
        self, key: str, outdir: str, callback: Callable[[Any, str], None]
    ) -> Callable[[Any, str], None]:
        """Return a callback that keeps successful results before it passes them on."""

        def keep_and_pass(results: Any, status: str) -> None:
            if status == "success":
                try:
                    self._keep(key, outdir, results)
                except (_NotKeepableError, OSError, ValueError) as error:
                    _log.debug("the results of a tool are not kept: %s", error)
            callback(results, status)

        return keep_and_pass

    def _keep(self, key: str, outdir: str, results: Any) -> None:
        """Keep the results of a tool as links to its files.

        Raises:
            _NotKeepableError: A file is not a plain one in the folder of the tool.
            OSError: A file cannot be linked.
        """
        new = self._folder / f".{key}"
        shutil.rmtree(new, ignore_errors=True)
        origins = {}
        try:
            for value in _list_files(results):
                if (path := _find_path(value)) is not None:
                    place = Path(path).relative_to(outdir)
                    _link(Path(path), new / _FILES / place)
                    origins[path] = f"{key}/{place}"
            text = json.dumps(_replace_paths(results, lambda path: os.path.relpath(path, outdir)))
            new.mkdir(parents=True, exist_ok=True)
            (new / _RESULT).write_text(text)
            new.rename(self._folder / key)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        self._origins |= origins

    def _take_over(self, key: str, outdir: str) -> Any:
        """Return the kept results with their files in ``outdir``, or None if they are not whole."""
        folder = self._folder / key
        if not (folder / _RESULT).exists():
            return None
        origins = {}
        try:
            relative = json.loads((folder / _RESULT).read_text())
            results = _replace_paths(relative, lambda path: os.path.join(outdir, path))
            for value in _list_files(results):
                if (path := _find_path(value)) is not None:
                    place = Path(path).relative_to(outdir)
                    if ".." in place.parts:
                        raise _NotKeepableError(f"{place} leads out of the folder")
                    _link(folder / _FILES / place, Path(path))
                    origins[path] = f"{key}/{place}"
        except (_NotKeepableError, OSError, ValueError):
            shutil.rmtree(folder, ignore_errors=True)
            _empty(outdir)
            return None
        self._origins |= origins
        return results


def _list_files(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield all files and directories of a value, also those beside or in others."""
    match value:
        case Mapping():
            if value.get("class") in ("File", "Directory"):
                yield value
            for inner in value.values():
                yield from _list_files(inner)
        case list():
            for item in value:
                yield from _list_files(item)


def _find_path(value: Mapping[str, Any]) -> str | None:
    """Return the path of a file or directory, or None for a literal."""
    location = str(value.get("location") or value.get("path") or "_:")
    return None if location.startswith("_:") else str(uri_file_path(location))


def _replace_paths(value: Any, replace: Callable[[str], str]) -> Any:
    """Return a value whose files and directories have other paths."""
    match value:
        case Mapping():
            fields = {key: _replace_paths(inner, replace) for key, inner in value.items()}
            if value.get("class") in ("File", "Directory") and "location" in value:
                for name in ("path", "dirname"):
                    fields.pop(name, None)
                fields["location"] = _replace_location(value["location"], replace)
            return fields
        case list():
            return [_replace_paths(item, replace) for item in value]
    return value


def _replace_location(location: str, replace: Callable[[str], str]) -> str:
    """Return a location with another path: absolute ones as an address, relative ones plain."""
    if location.startswith("_:"):
        return location
    is_absolute = location.startswith(("file:", "/"))
    path = replace(str(uri_file_path(location)) if is_absolute else location)
    return file_uri(path) if path.startswith("/") else path


def _link(source: Path, target: Path) -> None:
    """Link a file, or all files of a folder. What was linked before stays.

    Raises:
        _NotKeepableError: It is something else, or a checkpoint does not restore it as it is.
        OSError: It cannot be linked.
    """
    mode = source.lstat().st_mode
    if stat.S_ISDIR(mode):
        names = sorted(os.listdir(source))
        if not names:
            raise _NotKeepableError("an empty folder")
        for name in names:
            _link(source / name, target / name)
    elif not stat.S_ISREG(mode) or mode & 0o111 or source.name.startswith("."):
        raise _NotKeepableError(f"{source.name} is not a plain file")
    elif not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(source, target)


def _empty(folder: str) -> None:
    """Remove everything in a folder."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
