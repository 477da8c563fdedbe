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

_OF_JOBS = tuple(JOB_FIELDS)
_OF_LINKS = tuple(LINK_FIELDS)
_CHOICES = ("linkMerge", "pickValue")


class NotFlat(Exception):
    """A nested workflow cannot be flattened. The message is half a sentence."""

    def __init__(self, step: NamedNode, why: str) -> None:
        super().__init__(why)
        self.place = step.place
        self.step = step.name


@dataclass(frozen=True, slots=True)
class _LinkSource:
    """What feeds a link: sources by their new names, a choice among them, and a default."""

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
    around: "_Scope | None" = None
    apart: dict[str, "_Scope"] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        """The start of the new names of its steps."""
        return (
            ""
            if self.step is None or self.around is None
            else f"{self.around.prefix}{self.step.name}."
        )


def nested_to_flatten(workflow: CommentedMap) -> list[NamedNode]:
    """Return the steps whose workflow is to be flattened."""
    return [step for step in named_nodes(workflow.get("steps")) if _is_apart(step)]


def flatten(template: ParsedTemplate) -> ParsedTemplate:
    """Return the template in which the steps of nested workflows are steps of the outer workflow.

    The result shares no workflow with ``template``.

    Raises:
        NotFlat: A nested workflow cannot be flattened.
    """
    workflow, extensions = template.canonical.body, template.extensions
    outer = clone(workflow)
    scope = _scope(outer)
    gathered = _FlatSteps(extensions, _new_map(outer))
    gathered.add(scope, above=CommentedMap(), inherited=Fields())
    put_at(outer, "steps", gathered.steps, text_place(workflow, "steps"))
    for output in named_nodes(outer.get("outputs")):
        if output.body is not None and "outputSource" in output.body:
            _write(
                output.body,
                "outputSource",
                _supply(_SourcePlace(output, output.body, "outputSource", scope)),
            )
    left = {
        name: fields for name, fields in extensions.nested.items() if name not in gathered.taken
    }
    return replace(
        template,
        canonical=replace(template.canonical, body=outer),
        extensions=Extensions(extensions.workflow, gathered.fields, left, extensions.outputs),
    )


def _is_apart(step: NamedNode) -> bool:
    body = step.body
    if body is None or any(key in body for key in _OF_JOBS):
        return False
    run = body.get("run")
    if not isinstance(run, CommentedMap) or run.get("class") != "Workflow":
        return False
    if any(
        key in link.body
        for link in named_nodes(body.get("in"))
        if link.body is not None
        for key in _OF_LINKS
    ):
        return False
    return any(
        _is_apart(inner) or (inner.body is not None and "scatter" in inner.body)
        for inner in named_nodes(run.get("steps"))
    )


def _scope(
    body: CommentedMap, step: NamedNode | None = None, around: _Scope | None = None
) -> _Scope:
    scope = _Scope(body, step, around)
    for inner in nested_to_flatten(body):
        run = (inner.body or CommentedMap())["run"]
        if any(
            port.body is not None and "loadContents" in port.body
            for port in named_nodes(run.get("inputs"))
        ):
            raise NotFlat(inner, "an input of its workflow has 'loadContents'")
        scope.apart[inner.name] = _scope(run, inner, scope)
    return scope


@dataclass(frozen=True, slots=True)
class _SourcePlace:
    """The place where sources are written: ``key`` of ``body``, in the workflow of ``scope``."""

    at: NamedNode
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
        written = self.body.get(self.key)
        return [
            str(source)
            for source in (
                written if isinstance(written, list) else [] if written is None else [written]
            )
        ]

    @property
    def choice(self) -> dict[str, Any]:
        """The choice among the sources, as written."""
        return {name: self.body[name] for name in _CHOICES if name in self.body}


@dataclass(frozen=True, slots=True)
class _SourceTrace:
    """How far a source was followed back.

    Attributes:
        written: The place of the next source, of several sources, or of none.
        default: The default that was met there.
    """

    written: _SourcePlace
    default: Any = None


def _supply(written: _SourcePlace) -> _LinkSource:
    """Return what the sources are after flattening.

    Raises:
        NotFlat: A choice is nested in another choice, or a source cannot be followed.
    """
    followed = _follow(written)
    if isinstance(followed, _LinkSource):
        return followed
    last, found = followed.written, []
    for source in last.sources:
        supply = _follow(replace(last, body=CommentedMap({last.key: source})))
        if not isinstance(supply, _LinkSource) or not supply.is_plain:
            raise NotFlat(
                last.at,
                f"{quoted(last.at.name)} chooses among values that are chosen or put together"
                " inside another workflow",
            )
        found.append(supply.sources[0])
    return _LinkSource(found, last.choice, followed.default)


def _follow(written: _SourcePlace) -> _LinkSource | _SourceTrace:
    """Follow one source back through the flattened workflows.

    The search is a loop, because there may be many workflows in a row. It ends where the source is
    given, or where there is none, several, or a choice. The default is the first default of a link,
    or else that of the last input on the way.

    Raises:
        NotFlat: The nested workflows form a cycle, or a source does not exist.
    """
    first: Any = None
    last: Any = None
    passed: set[tuple[int, str]] = set()
    while True:
        sources = written.sources
        first = written.body.get("default") if first is None else first
        default = last if first is None else first
        if len(sources) != 1 or written.choice:
            return _SourceTrace(written, default)
        here = (id(written.scope), sources[0])
        if here in passed:
            raise NotFlat(written.at, "the nested workflows feed each other in a circle")
        passed.add(here)
        before = _before(sources[0], written)
        if isinstance(before, _LinkSource):
            return replace(before, default=default)
        written = before.written
        last = last if before.default is None else before.default


def _before(source: str, written: _SourcePlace) -> _LinkSource | _SourceTrace:
    """Return a source by its new name, or the place where its own source is written."""
    scope = written.scope
    step, slash, port = source.rpartition("/")
    if not slash:
        return _given(scope, source)
    if step not in scope.apart:
        return _LinkSource([f"{scope.prefix}{source}"])
    inner = scope.apart[step]
    for output in named_nodes(inner.body.get("outputs")):
        if output.name == port and output.body is not None:
            return _SourceTrace(_SourcePlace(output, output.body, "outputSource", inner))
    raise NotFlat(written.at, f"the workflow of step {quoted(step)} has no output {quoted(port)}")


def _given(scope: _Scope, name: str) -> _LinkSource | _SourceTrace:
    """Return what feeds an input of the workflow."""
    if scope.step is None or scope.around is None or scope.step.body is None:
        return _LinkSource([name])
    nothing = NamedNode(name, scope.step.place, CommentedMap())
    link = next(
        (link for link in named_nodes(scope.step.body.get("in")) if link.name == name), nothing
    )
    port = next(
        (port.body for port in named_nodes(scope.body.get("inputs")) if port.name == name), None
    )
    default = None if port is None else port.get("default")
    return _SourceTrace(_SourcePlace.link(link, scope.around), default)


@dataclass(slots=True)
class _FlatSteps:
    """The steps of the flattened workflow, and their extension fields."""

    extensions: Extensions
    steps: CommentedMap
    fields: dict[str, Fields] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def add(self, scope: _Scope, *, above: CommentedMap, inherited: Fields) -> None:
        """Add the steps of a workflow and of its flattened workflows.

        Args:
            scope: The workflow.
            above: Requirements and hints of the steps and workflows around it.
            inherited: Extension fields of the steps around it.
        """
        for step in named_nodes(scope.body.get("steps")):
            if step.body is None:
                continue
            name = f"{scope.prefix}{step.name}"
            own = self.extensions.steps.get(name) or self.extensions.nested.get(name) or Fields()
            self.taken.add(name)
            if step.name in scope.apart:
                needs = _needs(above, step.body, step.body["run"])
                self.add(
                    scope.apart[step.name],
                    above=needs,
                    inherited=_merged(inherited, _coming_down(step, own)),
                )
                continue
            if name in self.steps:
                raise NotFlat(step, f"there would be two steps {quoted(name)}")
            put_at(
                self.steps, name, _flat_step(step.body, scope, above, like=step.place), step.place
            )
            self.fields[name] = _merged(inherited, own)


def _flat_step(
    body: CommentedMap, scope: _Scope, above: CommentedMap, *, like: TextPlace
) -> CommentedMap:
    new: CommentedMap = clone(body)
    new.pop("id", None)
    links = _new_map(body)
    for link in named_nodes(body.get("in")):
        written = _new_map(body) if link.body is None else clone(link.body)
        for key in ("id", "source", "default", *_CHOICES):
            written.pop(key, None)
        supply = _supply(_SourcePlace.link(link, scope))
        place = (
            link.place
            if link.body is None or "source" not in link.body
            else text_place(link.body, "source")
        )
        _write(written, "source", supply, place)
        if written:
            put_at(links, link.name, written, link.place)
    put_at(new, "in", links, text_place(body, "in") if "in" in body else like)
    needs = _needs(above, body) if scope.prefix else {}
    for kind in ("requirements", "hints"):
        if needs.get(kind):
            put_at(new, kind, needs[kind], text_place(body, kind) if kind in body else like)
    return new


def _write(
    body: CommentedMap, key: str, supply: _LinkSource, place: TextPlace | None = None
) -> None:
    where = place or text_place(body, key)
    if supply.sources:
        is_alone = len(supply.sources) == 1
        written = supply.sources[0] if is_alone else CommentedSeq(supply.sources)
        put_at(body, key, written, where)
    for name, value in supply.choice.items():
        put_at(body, name, value, where)
    if supply.default is not None:
        put_at(body, "default", supply.default, where)


def _needs(*owners: CommentedMap) -> CommentedMap:
    """Return the requirements and hints of all owners. Of one class, the last owner counts."""
    found = _new_map(owners[-1])
    for kind in ("requirements", "hints"):
        held = _new_map(owners[-1])
        for owner in owners:
            for entry in named_nodes(owner.get(kind), "class"):
                value = _new_map(owner) if entry.body is None else clone(entry.body)
                value.pop("class", None)
                put_at(held, entry.name, value, entry.place)
        put_at(found, kind, held, text_place(owners[-1]))
    return found


def _coming_down(step: NamedNode, own: Fields) -> Fields:
    staying = [name for name in own.values if not FIELDS[name].comes_down]
    if staying:
        raise NotFlat(step, f"it has 'sluice:{staying[0]}', which is for one task")
    return own


def _merged(above: Fields, own: Fields) -> Fields:
    return Fields(
        {**above.values, **own.values}, {**above.places, **own.places}, {**above.inner, **own.inner}
    )


def _new_map(like: CommentedMap) -> CommentedMap:
    """Return an empty mapping at the same place."""
    new = CommentedMap()
    new.lc.line, new.lc.col, new.lc.data, new.lc.filename = (
        like.lc.line,
        like.lc.col,
        {},
        getattr(like.lc, "filename", None),
    )
    return new
