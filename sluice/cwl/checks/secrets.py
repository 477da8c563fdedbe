"""Checks of where secret parameters may go.

A tool finds a secret in an environment variable or in a file of its folder. A secret never appears
on a command line, in an expression or in an output. Every tool that gets a secret must declare it
with ``cwltool:Secrets``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.contracts.access.secrets import SECRET_SCHEME
from sluice.cwl.checks.expressions import expression_values, referenced_input, references_in
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.documents.types import short_form, without_null
from sluice.cwl.features import LINK_FIELDS
from sluice.cwl.properties.requirements import (
    SECRETS,
    Requirements,
    effective_requirements,
    expand_prefix,
)
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import START, Findings, TextPlace, text_place
from sluice.cwl.reading.nodes import NamedNode, as_list, named_nodes
from sluice.text.identifiers import local_name
from sluice.text.visible_text import quoted

_ADVICE = (
    "give it to the tool in a variable of its environment (EnvVarRequirement) or in a file of its"
    " folder (the entry of an InitialWorkDirRequirement), as a plain"
)


def check_secrets(template: ParsedTemplate, flow: Dataflow, findings: Findings) -> None:
    """Follow each secret from the workflow's input to the tools, and report misuse.

    Also report inputs that tools call secret although they are not bound to a secret.
    """
    places = flow.extensions.workflow.inner.items()
    if any(findings.has_error_at(place) for (name, _), place in places if name == "bind"):
        return  # the binding itself is wrong, so what follows would mislead
    checker = _SecretChecker(template.document.namespaces, findings)
    for name in flow.secrets:
        _check_parameter(name, flow, findings)
    checker.check_workflow(template.canonical.body, frozenset(flow.secrets), ())


def _check_parameter(name: str, flow: Dataflow, findings: Findings) -> None:
    port = flow.workflow.inputs[name]
    place = flow.extensions.workflow.inner.get(("bind", name), START)
    if short_form(without_null(port.type)) != "string":
        findings.error(
            place,
            f"the parameter {quoted(name)} is of type {short_form(port.type)}, but a secret is a"
            " text: make its type string",
        )
    if port.body.get("default") is not None:
        findings.error(
            port.field_place("default"),
            f"{quoted(name)} is a secret, and everyone can read the text of a template: remove its"
            " default",
        )


@dataclass(frozen=True, slots=True)
class _SecretChecker:
    namespaces: dict[str, str]
    findings: Findings
    #: The (tool, input) pairs that were reported. Several steps may run the same tool.
    reported_inputs: set[tuple[int, str]] = field(default_factory=set)

    def check_workflow(
        self, body: CommentedMap, secret: frozenset[str], outer: tuple[CommentedMap, ...]
    ) -> None:
        """Check a workflow and its steps.

        Args:
            body: The workflow.
            secret: The names of its inputs that are secrets.
            outer: The steps and workflows around it, the innermost first.
        """
        self._check_declarations(body, secret)
        for output in named_nodes(body.get("outputs")) if outer else ():
            for name in sorted(secret & _link_sources(output, "outputSource")):
                self.findings.error(
                    output.place, f"output {quoted(output.name)} is the secret {quoted(name)}"
                )
        for step in named_nodes(body.get("steps")):
            if step.body is not None:
                self._check_step(step, step.body, secret, (body, *outer))

    def _check_step(
        self,
        step: NamedNode,
        body: CommentedMap,
        secret: frozenset[str],
        outer: tuple[CommentedMap, ...],
    ) -> None:
        links = {link.name: link for link in named_nodes(body.get("in"))}
        secret_links = frozenset(
            name for name, link in links.items() if secret & _link_sources(link)
        )
        self._check_declarations(body, secret_links)
        for name in sorted(secret_links):
            self._check_link(step, body, links[name])
        expressions = [
            (owner.get(key), text_place(owner, key))
            for owner in (body, *(link.body for link in links.values() if link.body is not None))
            for key in ("when", "valueFrom")
            if key in owner
        ]
        for name in sorted(secret_links):
            for text, place in expressions:
                if _mentions(text, name):
                    self.findings.error(
                        place,
                        f"an expression of step {quoted(step.name)} uses the secret {quoted(name)}",
                    )
        run = body.get("run")
        if not isinstance(run, CommentedMap):
            return
        secret_inputs = secret_links & {port.name for port in named_nodes(run.get("inputs"))}
        match run.get("class"):
            case "Workflow":
                self.check_workflow(run, secret_inputs, (body, *outer))
            case "CommandLineTool":
                self._check_tool(step, run, secret_inputs, (run, body, *outer))
            case _:
                self._check_declarations(run, secret_inputs)
                for name in sorted(secret_inputs):
                    self.findings.error(
                        text_place(body, "run"),
                        f"step {quoted(step.name)} takes the secret {quoted(name)} but does not run"
                        " a CommandLineTool: only a CommandLineTool can be given secrets",
                    )

    def _check_link(self, step: NamedNode, step_body: CommentedMap, link: NamedNode) -> None:
        body = CommentedMap() if link.body is None else link.body
        key = next((key for key in ("linkMerge", "pickValue", *LINK_FIELDS) if key in body), None)
        if key is not None or len(_link_sources(link)) > 1:
            self.findings.error(
                link.place if key is None else text_place(body, key),
                f"input {quoted(link.name)} of step {quoted(step.name)} is a secret, which must be"
                " passed on unchanged: from one source, and without"
                f" {'others' if key is None else quoted(key)}",
            )
        if link.name in as_list(step_body.get("scatter")):
            self.findings.error(
                text_place(step_body, "scatter"),
                f"step {quoted(step.name)} scatters over {quoted(link.name)}, which is a secret",
            )

    def _check_tool(
        self,
        step: NamedNode,
        tool: CommentedMap,
        secret_inputs: frozenset[str],
        owners: tuple[CommentedMap, ...],
    ) -> None:
        requirements = effective_requirements(owners, self.namespaces)
        self._check_declarations(tool, secret_inputs)
        for port in named_nodes(tool.get("inputs")):
            if port.name not in secret_inputs or (id(tool), port.name) in self.reported_inputs:
                continue
            self.reported_inputs.add((id(tool), port.name))
            if port.name not in _declared_secrets(requirements):
                self.findings.error(
                    port.place,
                    f"input {quoted(port.name)} of the tool of step {quoted(step.name)} gets a"
                    " secret, and the tool does not say that it is one: add"
                    f" 'cwltool:Secrets: {{secrets: [{port.name}]}}' to its hints",
                )
            if port.body is not None and "inputBinding" in port.body:
                self.findings.error(
                    text_place(port.body, "inputBinding"),
                    f"{quoted(port.name)} is a secret, and command lines can be read by everyone on"
                    f" the node: {_ADVICE} $(inputs.{port.name})",
                )
            self._check_expressions(tool, requirements, port.name)

    def _check_expressions(self, tool: CommentedMap, requirements: Requirements, name: str) -> None:
        places = set(_allowed_places(requirements))
        bodies = CommentedSeq(requirement.body for requirement in requirements.values())
        for text, place in (*expression_values(tool), *expression_values(bodies)):
            if _mentions(text, name) and (
                place not in places or not _is_plain_reference(text, name)
            ):
                self.findings.error(
                    place,
                    f"{quoted(text)} uses the secret {quoted(name)}: {_ADVICE} $(inputs.{name})",
                )

    def _check_declarations(self, owner: CommentedMap, secret: frozenset[str]) -> None:
        """Report inputs that ``owner`` calls secret although they are not.

        Values that are not bound to a secret are stored readable for everyone.
        """
        for kind in ("requirements", "hints"):
            for entry in named_nodes(owner.get(kind), "class"):
                if expand_prefix(entry.name, self.namespaces) != SECRETS or entry.body is None:
                    continue
                for name in as_list(entry.body.get("secrets")):
                    if not isinstance(name, str) or local_name(name) not in secret:
                        self.findings.error(
                            entry.place,
                            f"{quoted(entry.name)} names {quoted(name)}, whose value is not secret:"
                            " bind the workflow's parameter that it comes from"
                            f" ('sluice:bind: {{PARAMETER: {SECRET_SCHEME}NAME}}')",
                        )


def _link_sources(link: NamedNode, key: str = "source") -> set[str]:
    sources = link.value if link.body is None else link.body.get(key)
    return {source.removeprefix("#") for source in as_list(sources) if isinstance(source, str)}


def _declared_secrets(requirements: Requirements) -> set[str]:
    requirement = requirements.get(SECRETS)
    names = [] if requirement is None else as_list(requirement.body.get("secrets"))
    return {local_name(name) for name in names if isinstance(name, str)}


def _allowed_places(requirements: Requirements) -> Iterator[TextPlace]:
    """Yield the places where a secret may be used: environment variables and contents of files."""
    variables = requirements.get("EnvVarRequirement")
    definitions = None if variables is None else variables.body.get("envDef")
    for entry in named_nodes(definitions, "envName"):
        if entry.body is not None:
            yield text_place(entry.body, "envValue")
        elif isinstance(definitions, CommentedMap):
            yield entry.place
    files = requirements.get("InitialWorkDirRequirement")
    listing = None if files is None else files.body.get("listing")
    for item in listing if isinstance(listing, CommentedSeq) else ():
        if isinstance(item, CommentedMap) and "entry" in item:
            yield text_place(item, "entry")


def _mentions(text: object, name: str) -> bool:
    """Return whether an expression uses the input, or may use it."""
    if not isinstance(text, str):
        return False
    references, rest = references_in(text)
    inputs = {
        referenced_input(reference) for reference in references if reference.startswith("$(inputs")
    }
    return (
        name in inputs
        or None in inputs
        or re.search(rf"\b{re.escape(name)}\b|\binputs\b(?!\s*[.\[])", rest) is not None
    )


def _is_plain_reference(text: str, name: str) -> bool:
    """Return whether the text uses the secret only as plain references to its whole value."""
    references, rest = references_in(text)
    secret_references = [
        reference for reference in references if referenced_input(reference) == name
    ]
    pattern = re.compile(rf"""\$\(inputs(?:\.{re.escape(name)}|\[['"]{re.escape(name)}['"]\])\)""")
    return (
        not rest
        and all(pattern.fullmatch(reference) for reference in secret_references)
        and all(
            referenced_input(reference) is not None
            for reference in references
            if reference.startswith("$(inputs")
        )
    )
