"""The reference implementation's own checks: CWL's schema, links and types.

cwltool is used as a library, with no way to a file or the network.

cwltool takes most of a second to import: this module does so on first use.
"""

import json
import logging
import re
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.documents.types import PRIMITIVES, normal_type, short_form
from sluice.cwl.reading.findings import START, Findings, TextPlace, did_you_mean
from sluice.cwl.reading.nodes import clone, parts

#: Address of the document for the loader; nothing is ever read from there.
_ADDRESS = "file:///template"
_PLACED = re.compile(
    r"^\s*(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): ?(?P<indent> *)(?P<message>.*)$"
)
#: A type as JSON, at the end of a message or before its next word.
_TYPE = re.compile(r"of type (\"\w+\"|[\[{].*?[\]}])(?= is incompatible| with sink|$)")
#: Items of a list.
_LONG = 50
_LOGGERS = ("cwltool", "salad", "rdflib", "rdflib.term")


def check_schema(workflow: CommentedMap, findings: Findings) -> None:
    """Fields, their values and the names they refer to, by the schema of the document's CWL
    version."""
    with _quiet():
        _salad_checks(clone(workflow), findings)


def check_as_cwltool(workflow: CommentedMap, findings: Findings) -> None:
    """Loads the workflow as cwltool would before a run: what it refuses, plain runs would refuse."""
    from schema_salad.exceptions import SchemaSaladException  # noqa: PLC0415

    library = _library()
    with _quiet():
        try:
            library.load(_with_short_lists(clone(workflow)))
        except SchemaSaladException as error:
            _tell(error, findings)
        except (
            Exception
        ) as error:  # the loader raises whatever a malformed document makes it stumble over
            cause: BaseException = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            _tell_text(str(cause) or type(cause).__name__, findings)


def _with_short_lists(node: Any) -> Any:
    """ruamel copies all places of a list anew for each of its items, and cwltool copies often: a
    long list keeps its own."""
    if isinstance(node, CommentedSeq) and len(node) > _LONG:
        node.lc.data = {}
    for inner in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        _with_short_lists(inner)
    return node


def _salad_checks(workflow: CommentedMap, findings: Findings) -> None:
    from schema_salad.exceptions import SchemaSaladException  # noqa: PLC0415

    library = _library()
    try:
        resolved, loader, names = library.resolve(workflow)
        try:
            library.validate(resolved, loader, names)
        except SchemaSaladException:
            for part in parts(resolved):
                if findings.full:
                    return
                try:
                    library.validate(part, loader, names)
                except SchemaSaladException as error:
                    _tell(error, findings)
        try:
            library.check_names(resolved, loader, names)
        except SchemaSaladException as error:
            _tell(error, findings)
    except SchemaSaladException as error:
        _tell(error, findings)
    except Exception as error:  # see check_as_cwltool
        if not findings.failed:
            _tell_text(
                f"not CWL: {error}; a mapping, a list or a text stands where another of these is"
                " wanted",
                findings,
            )


class _Library:
    """cwltool and schema-salad, imported and set up once."""

    def __init__(self) -> None:
        from cwltool import load_tool, process, workflow  # noqa: PLC0415
        from cwltool.context import LoadingContext  # noqa: PLC0415
        from schema_salad.exceptions import ValidationException  # noqa: PLC0415
        from schema_salad.fetcher import Fetcher  # noqa: PLC0415
        from schema_salad.ref_resolver import Loader  # noqa: PLC0415
        from schema_salad.schema import validate_doc  # noqa: PLC0415

        from sluice.cwl.cwltool_checks.link_checks import make_checks_bearable  # noqa: PLC0415
        from sluice.cwltool_types import take_types_from_the_newest  # noqa: PLC0415

        class NoFetcher(Fetcher):  # type: ignore[misc]  # the library ships no types
            """Reads nothing: whatever a document refers to outside itself is an error."""

            def fetch_text(self, url: str, content_types: list[str] | None = None) -> str:
                raise ValidationException(
                    f"'{url}' is outside this document, and nothing but the document is read"
                )

            def check_exists(self, url: str) -> bool:
                return False

            def urljoin(self, base_url: str, url: str) -> str:
                return urllib.parse.urljoin(base_url, url)

        take_types_from_the_newest()
        make_checks_bearable()
        self._fetcher = lambda _cache, _session: NoFetcher()
        self._load_tool, self._process, self._make = load_tool, process, workflow.default_make_tool
        self._context, self._loader, self._validate = LoadingContext, Loader, validate_doc

    def _new_loader(self, version: str) -> tuple[Any, Any]:
        template, names = self._process.get_schema(version)[:2]
        loader = self._loader(
            template.ctx,
            schemagraph=template.graph,
            cache=template.cache,
            fetcher_constructor=self._fetcher,
            skip_schemas=True,
            doc_cache=False,
        )
        return loader, names

    def resolve(self, workflow: CommentedMap) -> tuple[Any, Any, Any]:
        """The document with every name made an address, its loader and the schema's names."""
        loader, names = self._new_loader(workflow["cwlVersion"])
        loader.idx[_ADDRESS] = workflow
        resolved, _ = loader.resolve_all(workflow, _ADDRESS, checklinks=False)
        return resolved, loader, names

    def validate(self, resolved: Any, loader: Any, names: Any) -> None:
        self._validate(names, resolved, loader, True)

    def check_names(self, resolved: Any, loader: Any, names: Any) -> None:
        loader.validate_links(resolved, "", {})

    def load(self, workflow: CommentedMap) -> None:
        context = self._context(
            {
                "construct_tool_object": self._make,
                "fetcher_constructor": self._fetcher,
                "disable_js_validation": True,  # it would start node
                "skip_schemas": True,
                "doc_cache": False,
                "relax_path_checks": True,
            }
        )
        context.loader = self._load_tool.default_loader(self._fetcher, doc_cache=False)
        context.loader.idx[_ADDRESS] = workflow
        context, address = self._load_tool.resolve_and_validate_document(
            context, workflow, _ADDRESS
        )
        self._load_tool.make_tool(address, context)


@cache
def _library() -> _Library:
    return _Library()


@contextmanager
def _quiet() -> Iterator[None]:
    """The libraries log what they also raise; warnings of theirs that matter have rules of ours."""
    _library()  # its import sets the levels anew
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _tell(error: Any, findings: Findings) -> None:
    """One finding for each reason; where there is a finding already at the same place, ours says it
    better."""
    told: dict[TextPlace, list[str]] = {}
    for leaf in error.leaves():
        if leaf.start is None:
            _tell_text(leaf.message, findings)
            continue
        message = _plain_words(leaf.message)
        place = TextPlace(int(leaf.start[0]), int(leaf.start[1]), leaf.file)
        if message not in told.setdefault(place, []):
            told[place].append(message)
    for place, messages in told.items():
        if not findings.has_error_at(place):
            findings.error(place, "; or ".join(messages))


def _tell_text(text: str, findings: Findings) -> None:
    """Messages that carry their places in the text. One that goes on in further lines is told where
    the last of them points: of a link, at its end."""
    for place, lines in _messages(text):
        message = _plain_words(" ".join(lines))
        if message and not findings.has_error_at(place):
            findings.error(place, message)


def _messages(text: str) -> Iterator[tuple[TextPlace, list[str]]]:
    place, lines = START, list[str]()
    for line in text.splitlines():
        match = _PLACED.match(line)
        part = match["message"] if match else line
        # The libraries put a message's further lines further in.
        goes_on = match is None or match["indent"] or not lines
        if not goes_on:
            yield place, lines
            place, lines = START, []
        if match:
            place = TextPlace(int(match["line"]), int(match["column"]), match["file"])
        if part.strip():
            lines.append(part.strip())
    if lines:
        yield place, lines


def _plain_words(message: str) -> str:
    """The libraries' messages without their inner addresses and class names."""
    message = re.sub(r",? tried \S+( file:\S+)*$", "", " ".join(message.split()))
    message = re.sub(
        r"file:///template#main/|file:///template#|file:///|org\.w3id\.cwl\.(cwl|salad)\.",
        "",
        message,
    )
    message = message.replace("a CommentedSeq", "a list").replace("a CommentedMap", "a mapping")
    message = _TYPE.sub(lambda found: f"of type {_shown(found[1])}", message)
    unknown_field = re.match(r"invalid field '([^']*)', expected one of: (.*)", message)
    if unknown_field:
        known = re.findall(r"'([^']+)'", unknown_field[2])
        return f"there is no field '{unknown_field[1]}' here{did_you_mean(unknown_field[1], known)}"
    unknown_name = re.match(r"Field '(\w+)' references unknown identifier '([^']*)'", message)
    if unknown_name:
        name = unknown_name[2]
        return (
            f"there is no type '{name}'{did_you_mean(name, PRIMITIVES)}"
            if unknown_name[1] in ("type", "items")
            else f"there is no '{name}'"
        )
    return message[:600]


def _shown(written: str) -> str:
    """A type that stands in a message as JSON."""
    try:
        return short_form(normal_type(json.loads(written)))
    except ValueError:
        return written
