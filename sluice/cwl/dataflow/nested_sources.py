"""Sources of links across nested workflows that are flattened."""

from dataclasses import dataclass, field, replace
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.reading.nodes import NamedNode, named_nodes
from sluice.text.visible_text import quoted

#: Fields of a link that choose among its sources.
CHOICES = ("linkMerge", "pickValue")


class FlatteningError(Exception):
    """A nested workflow cannot be flattened. The message is half a sentence."""

    def __init__(self, step: NamedNode, reason: str) -> None:
        super().__init__(reason)
        self.place = step.place
        self.step = step.name


@dataclass(frozen=True, slots=True)
class LinkSource:
    """The sources of a link by their new names, a choice among them, and a default."""

    sources: list[str] = field(default_factory=list)
    choice: dict[str, Any] = field(default_factory=dict)
    default: Any = None

    @property
    def is_plain(self) -> bool:
        """Whether there is one source without a choice or a default."""
        return len(self.sources) == 1 and not self.choice and self.default is None


@dataclass(frozen=True, slots=True)
class Scope:
    """A workflow that is flattened, with the step that runs it (None for the outermost)."""

    body: CommentedMap
    step: NamedNode | None = None
    outer: "Scope | None" = None
    flattened: dict[str, "Scope"] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        """The start of the new names of its steps."""
        return (
            ""
            if self.step is None or self.outer is None
            else f"{self.outer.prefix}{self.step.name}."
        )


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The place where sources are written: ``key`` of ``body``, in the workflow of ``scope``."""

    node: NamedNode
    body: CommentedMap
    key: str
    scope: Scope

    @classmethod
    def link(cls, link: NamedNode, scope: Scope) -> "SourcePlace":
        """Return the place of the sources of a step input."""
        return cls(
            link,
            CommentedMap({"source": link.value}) if link.body is None else link.body,
            "source",
            scope,
        )

    @property
    def sources(self) -> list[str]:
        """The sources as written."""
        sources = self.body.get(self.key)
        return [
            str(source)
            for source in (
                sources if isinstance(sources, list) else [] if sources is None else [sources]
            )
        ]

    @property
    def choice(self) -> dict[str, Any]:
        """The choice among the sources, as written."""
        return {name: self.body[name] for name in CHOICES if name in self.body}


@dataclass(frozen=True, slots=True)
class _SourceTrace:
    """The state of the search for the source of a link.

    Attributes:
        place: The place where the search continues or ends.
        default: The default of the workflow input that the search has passed.
    """

    place: SourcePlace
    default: Any = None


def resolve_source(place: SourcePlace) -> LinkSource:
    """Return what the sources are after flattening.

    Raises:
        FlatteningError: A choice is nested in another choice, or a source cannot be followed.
    """
    trace = _trace(place)
    if isinstance(trace, LinkSource):
        return trace
    end_place, sources = trace.place, []
    for source in end_place.sources:
        link_source = _trace(replace(end_place, body=CommentedMap({end_place.key: source})))
        if not isinstance(link_source, LinkSource) or not link_source.is_plain:
            raise FlatteningError(
                end_place.node,
                f"{quoted(end_place.node.name)} chooses among values that are chosen or put"
                " together inside another workflow",
            )
        sources.append(link_source.sources[0])
    return LinkSource(sources, end_place.choice, trace.default)


def _trace(place: SourcePlace) -> LinkSource | _SourceTrace:
    """Follow one source back through the flattened workflows.

    The search is a loop, because there may be many workflows in a row. It ends at a source outside
    the flattened workflows. It also ends at a place with no source, several sources, or a choice.
    The default is the first default of a link, or else the default of the last input on the way.

    Raises:
        FlatteningError: The nested workflows form a cycle, or a source does not exist.
    """
    link_default: Any = None
    input_default: Any = None
    visited: set[tuple[int, str]] = set()
    while True:
        sources = place.sources
        link_default = place.body.get("default") if link_default is None else link_default
        default = input_default if link_default is None else link_default
        if len(sources) != 1 or place.choice:
            return _SourceTrace(place, default)
        position = (id(place.scope), sources[0])
        if position in visited:
            raise FlatteningError(place.node, "the nested workflows depend on each other")
        visited.add(position)
        upstream = _upstream(sources[0], place)
        if isinstance(upstream, LinkSource):
            return replace(upstream, default=default)
        place = upstream.place
        input_default = input_default if upstream.default is None else upstream.default


def _upstream(source: str, place: SourcePlace) -> LinkSource | _SourceTrace:
    """Return a source by its new name, or the place where its own source is written."""
    scope = place.scope
    step, slash, port = source.rpartition("/")
    if not slash:
        return _workflow_input_source(scope, source)
    if step not in scope.flattened:
        return LinkSource([f"{scope.prefix}{source}"])
    inner = scope.flattened[step]
    for output in named_nodes(inner.body.get("outputs")):
        if output.name == port and output.body is not None:
            return _SourceTrace(SourcePlace(output, output.body, "outputSource", inner))
    raise FlatteningError(
        place.node, f"the workflow of step {quoted(step)} has no output {quoted(port)}"
    )


def _workflow_input_source(scope: Scope, name: str) -> LinkSource | _SourceTrace:
    """Return what feeds an input of the workflow."""
    if scope.step is None or scope.outer is None or scope.step.body is None:
        return LinkSource([name])
    no_link = NamedNode(name, scope.step.place, CommentedMap())
    link = next(
        (link for link in named_nodes(scope.step.body.get("in")) if link.name == name), no_link
    )
    port = next(
        (port.body for port in named_nodes(scope.body.get("inputs")) if port.name == name), None
    )
    default = None if port is None else port.get("default")
    return _SourceTrace(SourcePlace.link(link, scope.outer), default)
