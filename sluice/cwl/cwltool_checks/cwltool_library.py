"""cwltool and schema-salad as a library, with no way to a file or the network.

cwltool takes most of a second to import: this module does so on first use.
"""

import logging
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from ruamel.yaml.comments import CommentedMap

#: Address of the document for the loader; nothing is ever read from there.
ADDRESS = "file:///template"
_LOGGERS = ("cwltool", "salad", "rdflib", "rdflib.term")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A document with its loader, and the names of the schema that it is checked by."""

    document: Any
    loader: Any
    names: Any


class Cwltool:
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

    def resolve(self, workflow: CommentedMap) -> Resolved:
        """With every name made an address."""
        loader, names = self._new_loader(workflow["cwlVersion"])
        loader.idx[ADDRESS] = workflow
        resolved, _ = loader.resolve_all(workflow, ADDRESS, checklinks=False)
        return Resolved(resolved, loader, names)

    def validate(self, resolved: Resolved, part: Any = None) -> None:
        """``part``: of the document, which is looked at alone; else all of it."""
        document = resolved.document if part is None else part
        self._validate(resolved.names, document, resolved.loader, True)

    def check_names(self, resolved: Resolved) -> None:
        resolved.loader.validate_links(resolved.document, "", {})

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
        context.loader.idx[ADDRESS] = workflow
        context, address = self._load_tool.resolve_and_validate_document(context, workflow, ADDRESS)
        self._load_tool.make_tool(address, context)


@cache
def load_cwltool() -> Cwltool:
    return Cwltool()


@contextmanager
def quiet() -> Iterator[None]:
    """The libraries log what they also raise; warnings of theirs that matter have rules of ours."""
    load_cwltool()  # its import sets the levels anew
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
