"""Flattening of nested workflows over data sets, so that their jobs run in parallel.

A nested workflow is flattened if it scatters and if the outer step only passes its inputs on: the
step has no ``scatter``, ``when`` or expression. A step ``inner`` of a step ``outer`` then becomes
``outer.inner``. All other nested workflows run inside one job.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.features import JOB_FIELDS, LINK_FIELDS
from sluice.cwl.properties.extension_fields import FIELDS
from sluice.cwl.properties.extension_reader import Extensions, Fields
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import TextPlace, text_place
from sluice.cwl.reading.nodes import NamedNode, clone, named_nodes, put_at
from sluice.text.visible_text import quoted

_JOB_FIELDS = tuple(JOB_FIELDS)
_LINK_FIELDS = tuple(LINK_FIELDS)
_CHOICES = ("linkMerge", "pickValue")


class FlatteningError(Exception):
    """A nested workflow cannot be flattened. The message is half a sentence."""

    def __init__(self, step: NamedNode, reason: str) -> None:
        super().__init__(reason)
        self.place = step.place
        self.step = step.name


@dataclass(frozen=True, slots=True)
class _LinkSource:
    """The sources of a link by their new names, a choice among them, and a default."""

    sources: list[str] = field(default_factory=list)
    choice: dict[str, Any] = field(default_factory=dict)
    default: Any = None

    @property
    def is_plain(self) -> bool:
        """Whether there is one source without a choice or a default."""
        return len(self.sources) == 1 and not self.choice and self.default is None


@dataclass(frozen=True, slots=True)
class _Scope:
    """A workflow that is flattened, with the step that runs it (None for the outermost)."""

    body: CommentedMap
    step: NamedNode | None = None
    outer: "_Scope | None" = None
    flattened: dict[str, "_Scope"] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        """The start of the new names of its steps."""
        return (
            ""
            if self.step is None or self.outer is None
            else f"{self.outer.prefix}{self.step.name}."
        )


def steps_to_flatten(workflow: CommentedMap) -> list[NamedNode]:
    """Return the steps whose workflow is to be flattened."""
    return [step for step in named_nodes(workflow.get("steps")) if _is_flattenable(step)]


def flatten(template: ParsedTemplate) -> ParsedTemplate:
    """Return the template in which the steps of nested workflows are steps of the outer workflow.

    The result shares no workflow with ``template``.

    Raises:
        FlatteningError: A nested workflow cannot be flattened.
    """
    workflow, extensions = template.canonical.body, template.extensions
    outer = clone(workflow)
    scope = _scope(outer)
    flat_steps = _FlatSteps(extensions, _empty_map(outer))
    flat_steps.add(scope, outer_requirements=CommentedMap(), inherited_fields=Fields())
    put_at(outer, "steps", flat_steps.steps, text_place(workflow, "steps"))
    for output in named_nodes(outer.get("outputs")):
        if output.body is not None and "outputSource" in output.body:
            _write_sources(
                output.body,
                "outputSource",
                _resolve(_SourcePlace(output, output.body, "outputSource", scope)),
            )
    unused_fields = {
        name: fields
        for name, fields in extensions.nested.items()
        if name not in flat_steps.used_names
    }
    return replace(
        template,
        canonical=replace(template.canonical, body=outer),
        extensions=Extensions(
            extensions.workflow, flat_steps.fields, unused_fields, extensions.outputs
        ),
    )


def _is_flattenable(step: NamedNode) -> bool:
    body = step.body
    if body is None or any(key in body for key in _JOB_FIELDS):
        return False
    run = body.get("run")
    if not isinstance(run, CommentedMap) or run.get("class") != "Workflow":
        return False
    if any(
        key in link.body
        for link in named_nodes(body.get("in"))
        if link.body is not None
        for key in _LINK_FIELDS
    ):
        return False
    return any(
        _is_flattenable(inner) or (inner.body is not None and "scatter" in inner.body)
        for inner in named_nodes(run.get("steps"))
    )


def _scope(
    body: CommentedMap, step: NamedNode | None = None, outer: _Scope | None = None
) -> _Scope:
    scope = _Scope(body, step, outer)
    for inner in steps_to_flatten(body):
        run = (inner.body or CommentedMap())["run"]
        if any(
            port.body is not None and "loadContents" in port.body
            for port in named_nodes(run.get("inputs"))
        ):
            raise FlatteningError(inner, "an input of its workflow has 'loadContents'")
        scope.flattened[inner.name] = _scope(run, inner, scope)
    return scope


@dataclass(frozen=True, slots=True)
class _SourcePlace:
    """The place where sources are written: ``key`` of ``body``, in the workflow of ``scope``."""

    node: NamedNode
    body: CommentedMap
    key: str
    scope: _Scope

    @classmethod
    def link(cls, link: NamedNode, scope: _Scope) -> "_SourcePlace":
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
        return {name: self.body[name] for name in _CHOICES if name in self.body}


@dataclass(frozen=True, slots=True)
class _SourceTrace:
    """The state of the search for the source of a link.

    Attributes:
        place: The place where the search continues or ends.
        default: The default of the workflow input that the search has passed.
    """

    place: _SourcePlace
    default: Any = None


def _resolve(place: _SourcePlace) -> _LinkSource:
    """Return what the sources are after flattening.

    Raises:
        FlatteningError: A choice is nested in another choice, or a source cannot be followed.
    """
    trace = _trace(place)
    if isinstance(trace, _LinkSource):
        return trace
    end_place, sources = trace.place, []
    for source in end_place.sources:
        link_source = _trace(replace(end_place, body=CommentedMap({end_place.key: source})))
        if not isinstance(link_source, _LinkSource) or not link_source.is_plain:
            raise FlatteningError(
                end_place.node,
                f"{quoted(end_place.node.name)} chooses among values that are chosen or put"
                " together inside another workflow",
            )
        sources.append(link_source.sources[0])
    return _LinkSource(sources, end_place.choice, trace.default)


def _trace(place: _SourcePlace) -> _LinkSource | _SourceTrace:
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
        if isinstance(upstream, _LinkSource):
            return replace(upstream, default=default)
        place = upstream.place
        input_default = input_default if upstream.default is None else upstream.default


def _upstream(source: str, place: _SourcePlace) -> _LinkSource | _SourceTrace:
    """Return a source by its new name, or the place where its own source is written."""
    scope = place.scope
    step, slash, port = source.rpartition("/")
    if not slash:
        return _workflow_input_source(scope, source)
    if step not in scope.flattened:
        return _LinkSource([f"{scope.prefix}{source}"])
    inner = scope.flattened[step]
    for output in named_nodes(inner.body.get("outputs")):
        if output.name == port and output.body is not None:
            return _SourceTrace(_SourcePlace(output, output.body, "outputSource", inner))
    raise FlatteningError(
        place.node, f"the workflow of step {quoted(step)} has no output {quoted(port)}"
    )


def _workflow_input_source(scope: _Scope, name: str) -> _LinkSource | _SourceTrace:
    """Return what feeds an input of the workflow."""
    if scope.step is None or scope.outer is None or scope.step.body is None:
        return _LinkSource([name])
    no_link = NamedNode(name, scope.step.place, CommentedMap())
    link = next(
        (link for link in named_nodes(scope.step.body.get("in")) if link.name == name), no_link
    )
    port = next(
        (port.body for port in named_nodes(scope.body.get("inputs")) if port.name == name), None
    )
    default = None if port is None else port.get("default")
    return _SourceTrace(_SourcePlace.link(link, scope.outer), default)


@dataclass(slots=True)
class _FlatSteps:
    """The steps of the flattened workflow, and their extension fields."""

    extensions: Extensions
    steps: CommentedMap
    fields: dict[str, Fields] = field(default_factory=dict)
    used_names: set[str] = field(default_factory=set)

    def add(
        self, scope: _Scope, *, outer_requirements: CommentedMap, inherited_fields: Fields
    ) -> None:
        """Add the steps of a workflow and of its flattened workflows.

        Args:
            scope: The workflow.
            outer_requirements: Requirements and hints of the steps and workflows around it.
            inherited_fields: Extension fields of the steps around it.
        """
        for step in named_nodes(scope.body.get("steps")):
            if step.body is None:
                continue
            name = f"{scope.prefix}{step.name}"
            fields = self.extensions.steps.get(name) or self.extensions.nested.get(name) or Fields()
            self.used_names.add(name)
            if step.name in scope.flattened:
                requirements = _merged_requirements(outer_requirements, step.body, step.body["run"])
                self.add(
                    scope.flattened[step.name],
                    outer_requirements=requirements,
                    inherited_fields=_merge_fields(
                        inherited_fields, _inheritable_fields(step, fields)
                    ),
                )
                continue
            if name in self.steps:
                raise FlatteningError(step, f"there would be two steps {quoted(name)}")
            put_at(
                self.steps,
                name,
                _flat_step(step.body, scope, outer_requirements, default_place=step.place),
                step.place,
            )
            self.fields[name] = _merge_fields(inherited_fields, fields)


def _flat_step(
    body: CommentedMap, scope: _Scope, outer_requirements: CommentedMap, *, default_place: TextPlace
) -> CommentedMap:
    step: CommentedMap = clone(body)
    step.pop("id", None)
    links = _empty_map(body)
    for link in named_nodes(body.get("in")):
        link_body = _empty_map(body) if link.body is None else clone(link.body)
        for key in ("id", "source", "default", *_CHOICES):
            link_body.pop(key, None)
        link_source = _resolve(_SourcePlace.link(link, scope))
        place = (
            link.place
            if link.body is None or "source" not in link.body
            else text_place(link.body, "source")
        )
        _write_sources(link_body, "source", link_source, place)
        if link_body:
            put_at(links, link.name, link_body, link.place)
    put_at(step, "in", links, text_place(body, "in") if "in" in body else default_place)
    requirements = _merged_requirements(outer_requirements, body) if scope.prefix else {}
    for kind in ("requirements", "hints"):
        if requirements.get(kind):
            put_at(
                step,
                kind,
                requirements[kind],
                text_place(body, kind) if kind in body else default_place,
            )
    return step


def _write_sources(
    body: CommentedMap, key: str, link_source: _LinkSource, place: TextPlace | None = None
) -> None:
    position = place or text_place(body, key)
    if link_source.sources:
        is_single = len(link_source.sources) == 1
        sources = link_source.sources[0] if is_single else CommentedSeq(link_source.sources)
        put_at(body, key, sources, position)
    for name, value in link_source.choice.items():
        put_at(body, name, value, position)
    if link_source.default is not None:
        put_at(body, "default", link_source.default, position)


def _merged_requirements(*owners: CommentedMap) -> CommentedMap:
    """Return the requirements and hints of all owners. The last owner of a class counts."""
    merged = _empty_map(owners[-1])
    for kind in ("requirements", "hints"):
        requirements = _empty_map(owners[-1])
        for owner in owners:
            for entry in named_nodes(owner.get(kind), "class"):
                value = _empty_map(owner) if entry.body is None else clone(entry.body)
                value.pop("class", None)
                put_at(requirements, entry.name, value, entry.place)
        put_at(merged, kind, requirements, text_place(owners[-1]))
    return merged


def _inheritable_fields(step: NamedNode, fields: Fields) -> Fields:
    fixed_fields = [name for name in fields.values if not FIELDS[name].is_inherited]
    if fixed_fields:
        raise FlatteningError(step, f"it has 'sluice:{fixed_fields[0]}', which is for one task")
    return fields


def _merge_fields(outer: Fields, own_fields: Fields) -> Fields:
    return Fields(
        {**outer.values, **own_fields.values},
        {**outer.places, **own_fields.places},
        {**outer.inner, **own_fields.inner},
    )


def _empty_map(node: CommentedMap) -> CommentedMap:
    """Return an empty mapping at the same place."""
    empty = CommentedMap()
    empty.lc.line, empty.lc.col, empty.lc.data, empty.lc.filename = (
        node.lc.line,
        node.lc.col,
        {},
        getattr(node.lc, "filename", None),
    )
    return empty
