"""Flattening of nested workflows over data sets, so that their jobs run in parallel.

A nested workflow is flattened if it scatters and if the outer step only passes its inputs on: the
step has no ``scatter``, ``when`` or expression. A step ``inner`` of a step ``outer`` then becomes
``outer.inner``. All other nested workflows run inside one job.
"""

from dataclasses import dataclass, field, replace

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.dataflow.nested_sources import (
    CHOICES,
    FlatteningError,
    LinkSource,
    Scope,
    SourcePlace,
    resolve_source,
)
from sluice.cwl.features import JOB_FIELDS, LINK_FIELDS
from sluice.cwl.properties.extension_fields import FIELDS
from sluice.cwl.properties.extension_reader import Extensions, Fields
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import TextPlace, text_place
from sluice.cwl.reading.nodes import NamedNode, clone, named_nodes, put_at
from sluice.text.visible_text import quoted

_JOB_FIELDS = tuple(JOB_FIELDS)
_LINK_FIELDS = tuple(LINK_FIELDS)


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
                resolve_source(SourcePlace(output, output.body, "outputSource", scope)),
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


def _scope(body: CommentedMap, step: NamedNode | None = None, outer: Scope | None = None) -> Scope:
    scope = Scope(body, step, outer)
    for inner in steps_to_flatten(body):
        run = (inner.body or CommentedMap())["run"]
        if any(
            port.body is not None and "loadContents" in port.body
            for port in named_nodes(run.get("inputs"))
        ):
            raise FlatteningError(inner, "an input of its workflow has 'loadContents'")
        scope.flattened[inner.name] = _scope(run, inner, scope)
    return scope


@dataclass(slots=True)
class _FlatSteps:
    """The steps of the flattened workflow, and their extension fields."""

    extensions: Extensions
    steps: CommentedMap
    fields: dict[str, Fields] = field(default_factory=dict)
    used_names: set[str] = field(default_factory=set)

    def add(
        self, scope: Scope, *, outer_requirements: CommentedMap, inherited_fields: Fields
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
    body: CommentedMap, scope: Scope, outer_requirements: CommentedMap, *, default_place: TextPlace
) -> CommentedMap:
    step: CommentedMap = clone(body)
    step.pop("id", None)
    links = _empty_map(body)
    for link in named_nodes(body.get("in")):
        link_body = _empty_map(body) if link.body is None else clone(link.body)
        for key in ("id", "source", "default", *CHOICES):
            link_body.pop(key, None)
        link_source = resolve_source(SourcePlace.link(link, scope))
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
    body: CommentedMap, key: str, link_source: LinkSource, place: TextPlace | None = None
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
