"""Nested workflows that work through whole data sets become steps of the outer one, so that their jobs run side by side.

Only where the outer step does nothing but hand its inputs in (no ``scatter``, ``when`` or expression of its own), and where the
inner workflow scatters. A step ``inner`` of step ``outer`` is then called ``outer.inner``. All others run inside one job.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.extensions import Extensions, Fields
from sluice.cwl.features import JOB_FIELDS, LINK_FIELDS
from sluice.cwl.findings import Place, place_of
from sluice.cwl.tree import Entry, clone, entries, put

#: Fields of ours that come down from the outer step to those in its workflow.
_COME_DOWN = frozenset({"boundary", "retry", "rank"})
_OF_JOBS = tuple(JOB_FIELDS)
_OF_LINKS = tuple(LINK_FIELDS)
_CHOICES = ("linkMerge", "pickValue")


class Unflat(Exception):
    """Why a nested workflow cannot be taken apart: a half sentence."""

    def __init__(self, step: Entry, why: str) -> None:
        super().__init__(why)
        self.place = step.place
        self.step = step.name


@dataclass(frozen=True, slots=True)
class Flat:
    """``workflow`` shares nothing with the one it is made of."""

    workflow: CommentedMap
    extensions: Extensions


@dataclass(frozen=True, slots=True)
class _Supply:
    """What feeds a link: sources by their new names, a choice among them, a default."""

    sources: list[str] = field(default_factory=list)
    choice: dict[str, Any] = field(default_factory=dict)
    default: Any = None

    @property
    def is_plain(self) -> bool:
        return len(self.sources) == 1 and not self.choice and self.default is None


@dataclass(frozen=True, slots=True)
class _Scope:
    """A workflow that is taken apart, and the step that runs it; None for the outermost."""

    body: CommentedMap
    step: Entry | None = None
    around: "_Scope | None" = None
    apart: dict[str, "_Scope"] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        return "" if self.step is None or self.around is None else f"{self.around.prefix}{self.step.name}."


def nested_to_flatten(workflow: CommentedMap) -> list[Entry]:
    """Steps whose workflow is to be taken apart."""
    return [step for step in entries(workflow.get("steps")) if _is_apart(step)]


def flatten(workflow: CommentedMap, extensions: Extensions) -> Flat:
    """Raises ``Unflat``; ``RecursionError`` where they feed each other in a circle. ``workflow`` stays as it is."""
    outer = clone(workflow)
    scope = _scope(outer)
    gathered = _Gathered(extensions, _new_map(outer))
    gathered.add(scope, above=CommentedMap(), inherited=Fields())
    put(outer, "steps", gathered.steps, place_of(workflow, "steps"))
    for output in entries(outer.get("outputs")):
        if output.body is not None and "outputSource" in output.body:
            supply = _supply(output, output.body, "outputSource", scope)
            _write(output.body, "outputSource", supply)
    left = {name: fields for name, fields in extensions.nested.items() if name not in gathered.taken}
    return Flat(outer, Extensions(extensions.workflow, gathered.fields, left))


def _is_apart(step: Entry) -> bool:
    body = step.body
    if body is None or any(key in body for key in _OF_JOBS):
        return False
    run = body.get("run")
    if not isinstance(run, CommentedMap) or run.get("class") != "Workflow":
        return False
    if any(key in link.body for link in entries(body.get("in")) if link.body is not None for key in _OF_LINKS):
        return False
    return any(_is_apart(inner) or (inner.body is not None and "scatter" in inner.body) for inner in entries(run.get("steps")))


def _scope(body: CommentedMap, step: Entry | None = None, around: _Scope | None = None) -> _Scope:
    scope = _Scope(body, step, around)
    for inner in nested_to_flatten(body):
        run = (inner.body or CommentedMap())["run"]
        if any(port.body is not None and "loadContents" in port.body for port in entries(run.get("inputs"))):
            raise Unflat(inner, "an input of its workflow has 'loadContents'")
        scope.apart[inner.name] = _scope(run, inner, scope)
    return scope


def _fed(scope: _Scope, name: str) -> _Supply:
    """What is given for an input of the workflow."""
    if scope.step is None or scope.around is None or scope.step.body is None:
        return _Supply([name])
    given = next((_link(link, scope.around) for link in entries(scope.step.body.get("in")) if link.name == name), _Supply())
    port = next((port.body for port in entries(scope.body.get("inputs")) if port.name == name), None)
    default = None if port is None else port.get("default")
    return given if default is None or given.default is not None else replace(given, default=default)


def _link(link: Entry, scope: _Scope) -> _Supply:
    if link.body is None:
        return _supply(link, CommentedMap({"source": link.value}), "source", scope)
    return _supply(link, link.body, "source", scope)


def _supply(link: Entry, body: CommentedMap, key: str, scope: _Scope) -> _Supply:
    """What the sources written at ``link`` are when all is taken apart."""
    written = body.get(key)
    sources = list(written) if isinstance(written, CommentedSeq | list) else [] if written is None else [written]
    choice = {name: body[name] for name in _CHOICES if name in body}
    found = [_resolved(str(source), scope, link) for source in sources]
    default = body.get("default")
    if len(found) == 1 and not choice:
        one = found[0]
        return _Supply(one.sources, one.choice, one.default if default is None else default)
    if not all(one.is_plain for one in found):
        raise Unflat(link, f"'{link.name}' chooses among values that are chosen or put together inside another workflow")
    return _Supply([one.sources[0] for one in found], choice, default)


def _resolved(source: str, scope: _Scope, link: Entry) -> _Supply:
    step, slash, port = source.rpartition("/")
    if not slash:
        return _fed(scope, source)
    if step not in scope.apart:
        return _Supply([f"{scope.prefix}{source}"])
    inner = scope.apart[step]
    for output in entries(inner.body.get("outputs")):
        if output.name == port and output.body is not None:
            return _supply(output, output.body, "outputSource", inner)
    raise Unflat(link, f"the workflow of step '{step}' has no output '{port}'")


@dataclass(slots=True)
class _Gathered:
    """The new steps, and their fields of ours."""

    extensions: Extensions
    steps: CommentedMap
    fields: dict[str, Fields] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def add(self, scope: _Scope, *, above: CommentedMap, inherited: Fields) -> None:
        """``above``: requirements and hints of the steps and workflows around; ``inherited``: fields of ours."""
        for step in entries(scope.body.get("steps")):
            if step.body is None:
                continue
            name = f"{scope.prefix}{step.name}"
            own = self.extensions.steps.get(name) or self.extensions.nested.get(name) or Fields()
            self.taken.add(name)
            if step.name in scope.apart:
                needs = _needs(above, step.body, step.body["run"])
                self.add(scope.apart[step.name], above=needs, inherited=_merged(inherited, _coming_down(step, own)))
                continue
            if name in self.steps:
                raise Unflat(step, f"there would be two steps '{name}'")
            put(self.steps, name, _flat_step(step.body, scope, above, like=step.place), step.place)
            self.fields[name] = _merged(inherited, own)


def _flat_step(body: CommentedMap, scope: _Scope, above: CommentedMap, *, like: Place) -> CommentedMap:
    new: CommentedMap = clone(body)
    new.pop("id", None)
    links = _new_map(body)
    for link in entries(body.get("in")):
        written = _new_map(body) if link.body is None else clone(link.body)
        for key in ("id", "source", "default", *_CHOICES):
            written.pop(key, None)
        supply = _link(link, scope)
        place = link.place if link.body is None or "source" not in link.body else place_of(link.body, "source")
        _write(written, "source", supply, place)
        if written:
            put(links, link.name, written, link.place)
    put(new, "in", links, place_of(body, "in") if "in" in body else like)
    needs = _needs(above, body) if scope.prefix else {}
    for kind in ("requirements", "hints"):
        if needs.get(kind):
            put(new, kind, needs[kind], place_of(body, kind) if kind in body else like)
    return new


def _write(body: CommentedMap, key: str, supply: _Supply, place: Place | None = None) -> None:
    where = place or place_of(body, key)
    if supply.sources:
        one = supply.sources[0]
        put(body, key, one if len(supply.sources) == 1 else CommentedSeq(supply.sources), where)
    for name, value in supply.choice.items():
        put(body, name, value, where)
    if supply.default is not None:
        put(body, "default", supply.default, where)


def _needs(*owners: CommentedMap) -> CommentedMap:
    """Requirements and hints of all, the later instead of the earlier of a class."""
    found = _new_map(owners[-1])
    for kind in ("requirements", "hints"):
        held = _new_map(owners[-1])
        for owner in owners:
            for entry in entries(owner.get(kind), "class"):
                value = _new_map(owner) if entry.body is None else clone(entry.body)
                value.pop("class", None)
                put(held, entry.name, value, entry.place)
        put(found, kind, held, place_of(owners[-1]))
    return found


def _coming_down(step: Entry, own: Fields) -> Fields:
    staying = [name for name in own.values if name not in _COME_DOWN]
    if staying:
        raise Unflat(step, f"it has 'sluice:{staying[0]}', which is for one task")
    return own


def _merged(above: Fields, own: Fields) -> Fields:
    return Fields({**above.values, **own.values}, {**above.places, **own.places}, {**above.inner, **own.inner})


def _new_map(like: CommentedMap) -> CommentedMap:
    """An empty one at the same place."""
    new = CommentedMap()
    new.lc.line, new.lc.col, new.lc.data, new.lc.filename = like.lc.line, like.lc.col, {}, getattr(like.lc, "filename", None)
    return new
