"""cwltool and schema-salad as a library, without access to files or the network.

cwltool takes most of a second to import, so this module imports it on first use.
"""

import logging
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from ruamel.yaml.comments import CommentedMap, LineCol

from sluice.text.visible_text import quoted

#: The address of the document for the loader, which never reads from there.
ADDRESS = "file:///template"
_LOGGERS = ("cwltool", "salad", "rdflib", "rdflib.term")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A document with its loader and the names of the schema that applies to it."""

    document: Any
    loader: Any
    names: Any


def _share_places(places: LineCol, _memo: object) -> LineCol:
    """Return the places in a node for a copy of the node.

    cwltool copies documents several times, and ruamel copies all places of a list for each of its
    items. Nothing changes the places of a node that has been read.
    """
    return places


class Cwltool:
    """cwltool and schema-salad, imported and set up once."""

    def __init__(self) -> None:
        from cwltool import load_tool, process, workflow  # noqa: PLC0415
        from cwltool.context import LoadingContext  # noqa: PLC0415
        from schema_salad.exceptions import ValidationException  # noqa: PLC0415
        from schema_salad.fetcher import Fetcher  # noqa: PLC0415
        from schema_salad.ref_resolver import Loader  # noqa: PLC0415
        from schema_salad.schema import validate_doc  # noqa: PLC0415

        from sluice.cwl.cwltool_checks.link_checks import install_fast_checks  # noqa: PLC0415
        from sluice.tools.cwltool_types import use_newest_types  # noqa: PLC0415

        class NoFetcher(Fetcher):  # type: ignore[misc]  # the library ships no types
            """A fetcher that reads nothing: references outside the document are errors."""

            def fetch_text(self, url: str, content_types: list[str] | None = None) -> str:
                """Refuse to read an address."""
                raise ValidationException(
                    f"{quoted(url)} is outside this document, and only the document is read"
                )

            def check_exists(self, url: str) -> bool:
                """Return whether an address may be that of a file, which only a job can find."""
                return "#" not in url

            def urljoin(self, base_url: str, url: str) -> str:
                """Return an absolute address."""
                return urllib.parse.urljoin(base_url, url)

        use_newest_types()
        install_fast_checks()
        LineCol.__deepcopy__ = _share_places
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

    def resolve(self, workflow: CommentedMap) -> Resolved:
        """Return the workflow with every name expanded to an address."""
        loader, names = self._new_loader(workflow["cwlVersion"])
        loader.idx[ADDRESS] = workflow
        resolved, _ = loader.resolve_all(workflow, ADDRESS, checklinks=False)
        return Resolved(resolved, loader, names)

    def validate(self, resolved_documents: Resolved, part: Any = None) -> None:
        """Check a document, or one part of it alone, against the schema."""
        document = resolved_documents.document if part is None else part
        self._validate(resolved_documents.names, document, resolved_documents.loader, True)

    def check_names(self, resolved_documents: Resolved) -> None:
        """Check that every name in the document refers to something."""
        resolved_documents.loader.validate_links(resolved_documents.document, "", {})

    def load(self, workflow: CommentedMap) -> None:
        """Load the workflow as cwltool does before a run."""
        context = self._context(
            {
                "construct_tool_object": self._make,
                "fetcher_constructor": self._fetcher,
                "disable_js_validation": True,  # the validation would start node
                "skip_schemas": True,
                "doc_cache": False,
                "relax_path_checks": True,
            }
        )
        context.loader = self._load_tool.default_loader(self._fetcher, doc_cache=False)
        context.loader.idx[ADDRESS] = workflow
        context, address = self._load_tool.resolve_and_validate_document(context, workflow, ADDRESS)
        self._load_tool.make_tool(address, context)


@cache
def load_cwltool() -> Cwltool:
    """Return the library, which is set up once."""
    return Cwltool()


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the libraries' loggers in the context.

    The libraries log what they also raise. Sluice has its own rules for the warnings that matter.
    """
    load_cwltool()  # its import resets the levels
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
