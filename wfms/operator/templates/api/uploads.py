"""Reading of uploaded templates: JSON, forms with files or a text, zip archives, plain text."""

import re
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath

from flask import request
from pydantic import TypeAdapter, ValidationError
from werkzeug.datastructures import FileStorage

from sluice.contracts.access.owners import GroupName
from sluice.contracts.common.base import Name
from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.templates import NewTemplate
from wfms.operator.errors import RequestRefused, UnsupportedMediaType
from wfms.operator.http.body import read_body
from wfms.operator.http.route import parse_json, to_request_refused
from wfms.operator.templates.domain.submitted_files import UNNAMED, SubmittedFiles

TEXT_TYPES = {
    "text/plain",
    "text/yaml",
    "application/yaml",
    "application/x-yaml",
    "application/cwl",
    "application/cwl+yaml",
}
ZIP_TYPES = {"application/zip", "application/x-zip-compressed"}

_NAME: TypeAdapter[str] = TypeAdapter(Name)
_GROUP: TypeAdapter[str] = TypeAdapter(GroupName)


@dataclass(frozen=True, slots=True)
class SentTemplate:
    """A template as it was uploaded.

    ``replaces`` and ``group`` have the same meaning as in ``NewTemplate``.
    """

    name: str
    files: SubmittedFiles
    replaces: int | None = None
    group: str | None = None


def read_upload() -> SentTemplate:
    """Read the template in the request.

    It may be JSON (``NewTemplate``), a form, a plain text or a zip archive. With plain text and zip
    archives, the query has the name and, where needed, the path of the main file.

    Raises:
        RequestRefused: The body is not a valid template.
        UnsupportedMediaType: The media type is not supported.
    """
    match request.mimetype:
        case "application/json":
            template = parse_json(NewTemplate)
            return SentTemplate(
                template.name, SubmittedFiles.of(template), template.replaces, template.group
            )
        case "multipart/form-data" | "application/x-www-form-urlencoded":
            return read_form()
        case media if media in TEXT_TYPES:
            return _build_template(request.args.get("name", ""), {UNNAMED: read_body()})
        case media if media in ZIP_TYPES:
            return _build_template(
                request.args.get("name", ""),
                {"template.zip": read_body()},
                request.args.get("main", ""),
            )
        case _:
            raise UnsupportedMediaType(
                "JSON with name and cwl or files, a form with the files, a zip as"
                " application/zip, or the text as text/plain"
            )


def read_form() -> SentTemplate:
    """Read a template from a form.

    The form has files or one zip archive in fields of any name, or a text in ``cwl``. ``name`` is
    by default the name of the file or of its folder, without the extension. ``main`` is the path of
    the workflow among several files.
    """
    name, main = request.form.get("name", "").strip(), request.form.get("main", "").strip()
    uploaded = [file for file in chain.from_iterable(request.files.listvalues()) if file.filename]
    if not uploaded:
        return _build_template(
            name, {UNNAMED: request.form.get("cwl", "").replace("\r\n", "\n").encode()}
        )
    paths = [_read_path(file) for file in uploaded]
    twice = {path for path in paths if paths.count(path) > 1}
    if twice:
        raise RequestRefused(
            [Finding(message="two files have this path", file=path) for path in sorted(twice)]
        )
    files = {path: file.read() for path, file in zip(paths, uploaded, strict=True)}
    return _build_template(name or _derive_name(paths, main), files, main)


def _read_path(file: FileStorage) -> str:
    """Return the path of a file. Browsers send paths for files of a folder, else names."""
    return (file.filename or UNNAMED).replace("\\", "/")


def _derive_name(paths: list[str], main: str) -> str:
    """Return the name of a template, from the names of its files.

    It is ``spd`` for ``spd.cwl``, for ``spd.zip`` and for the folder ``spd``.
    """
    first = PurePosixPath(main or paths[0])
    if first.stem in {"workflow", "main"} and len(first.parts) > 1:
        stem = first.parts[-2]
    elif len(paths) == 1 or main:
        stem = first.stem
    else:
        tops = {path.partition("/")[0] for path in paths}
        stem = tops.pop() if len(tops) == 1 else ""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem)


def _build_template(name: str, files: dict[str, bytes], main: str = "") -> SentTemplate:
    if not any(content.strip() for content in files.values()):
        raise RequestRefused(
            [Finding(message="there is no text: choose a file or paste a workflow")]
        )
    if not name and len(files) > 1:
        raise RequestRefused([Finding(message="there is no name: several files need one")])
    try:
        _NAME.validate_python(name)
    except ValidationError as error:
        raise to_request_refused("name", error) from error
    return SentTemplate(name, SubmittedFiles(files, main or None), group=_read_group())


def _read_group() -> str | None:
    """Return the group in the form or the query."""
    group = request.values.get("group", "").strip()
    if not group:
        return None
    try:
        return _GROUP.validate_python(group)
    except ValidationError as error:
        raise to_request_refused("group", error) from error
