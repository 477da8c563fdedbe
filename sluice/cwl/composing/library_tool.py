"""A tool of the library, which is a CommandLineTool in one text.

The tool may have extension fields: ``sluice:bind``, which goes to the composed workflow, and those
of a step (``sluice:retry``, ``sluice:boundary`` …), which go to its step.
"""

from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.contracts.common.problems import Finding
from sluice.cwl.checks.type_depth import check_type_depth
from sluice.cwl.documents.types import is_optional, normal_type, without_null
from sluice.cwl.features import NAMESPACE
from sluice.cwl.plan.documentation import documentation
from sluice.cwl.properties.extension_fields import FIELDS
from sluice.cwl.reading.findings import START, Findings, text_place
from sluice.cwl.reading.nodes import named_nodes, plain_json
from sluice.cwl.reading.yaml_text import read_text
from sluice.text.visible_text import quoted

#: The largest text of a tool, in bytes.
MAX_TOOL = 256 * 1024
#: Fields that belong to a document, and not to a process inside a workflow.
_DOCUMENT_FIELDS = ("cwlVersion", "$namespaces", "$schemas", "id")
#: Fields that refer to other files.
_INCLUSIONS = ("$import", "$include", "$mixin", "$graph")


@dataclass(frozen=True, slots=True)
class ToolPort:
    """An input or output of a tool.

    Attributes:
        name: The name of the port.
        type: The CWL type in its long form.
        item: File or Directory, or None if the port takes values.
        depth: The number of lists around the item.
        optional: Whether there may be no value.
        default: The default, or None.
        format: The address of the format, or None if it is not declared.
        doc: The documentation.
    """

    name: str
    type: Any
    item: str | None
    depth: int
    optional: bool
    default: Any = None
    format: str | None = None
    doc: str = ""


@dataclass(frozen=True, slots=True)
class LibraryTool:
    """A tool that can be joined with others.

    Attributes:
        version: The CWL version.
        doc: The documentation.
        inputs: The inputs by name.
        outputs: The outputs by name.
        body: The text of the process without the fields of a document.
        namespaces: The addresses of the prefixes.
        bind: What ``sluice:bind`` says for the workflow.
        fields: The extension fields for the step.
    """

    version: str
    doc: str
    inputs: dict[str, ToolPort]
    outputs: dict[str, ToolPort]
    body: str
    namespaces: dict[str, str] = field(default_factory=dict)
    bind: dict[str, str] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)


def read_tool(text: str, *, file: str) -> tuple[LibraryTool | None, list[Finding]]:
    """Read a tool of the library.

    The checks here are those that composition needs. The compiler checks the rest in the composed
    workflow.

    Returns:
        The tool, or None if it cannot be joined, and the findings.
    """
    findings = Findings(file)
    if len(text.encode(errors="replace")) > MAX_TOOL:
        findings.error(START, f"a tool of the library has at most {MAX_TOOL} bytes")
        return None, findings.sorted()
    root = read_text(text, findings)
    if root is None and findings.failed:
        return None, findings.sorted()
    if not isinstance(root, CommentedMap) or root.get("class") != "CommandLineTool":
        class_name = root.get("class") if isinstance(root, CommentedMap) else None
        findings.error(
            START,
            "the library has CommandLineTools only, and the class of this document is"
            f" {class_name or 'missing'}",
        )
        return None, findings.sorted()
    if not check_type_depth(root, findings):
        return None, findings.sorted()
    _refuse_other_files(root, findings)
    bind, fields = _extensions(root, findings)
    tool = LibraryTool(
        version=str(root.get("cwlVersion", "")),
        doc=documentation(root),
        inputs=_ports(root, "inputs"),
        outputs=_ports(root, "outputs"),
        body=_body(text),
        namespaces={str(key): str(url) for key, url in (root.get("$namespaces") or {}).items()},
        bind=bind,
        fields=fields,
    )
    for name in bind:
        if name not in tool.inputs:
            findings.error(
                text_place(root, "sluice:bind"),
                f"'sluice:bind': the tool has no input {quoted(name)}",
            )
    return (None if findings.failed else tool), findings.sorted()


def _refuse_other_files(node: Any, findings: Findings) -> None:
    """Report references to other files: a tool of the library is one text."""
    if isinstance(node, CommentedMap):
        for key, value in node.items():
            if key in _INCLUSIONS:
                findings.error(
                    text_place(node, key),
                    f"{quoted(key)}: a tool of the library must be a single file",
                )
            else:
                _refuse_other_files(value, findings)
    elif isinstance(node, CommentedSeq):
        for item in node:
            _refuse_other_files(item, findings)


def _extensions(root: CommentedMap, findings: Findings) -> tuple[dict[str, str], dict[str, Any]]:
    """Return ``sluice:bind`` and the extension fields for the step, as written."""
    bind: dict[str, str] = {}
    fields: dict[str, Any] = {}
    for key, value in root.items():
        name = key.removeprefix("sluice:")
        if name == key:
            continue
        if name == "bind" and isinstance(value, CommentedMap):
            bind = {str(port): str(target) for port, target in value.items()}
        elif name in FIELDS and FIELDS[name].is_allowed_on("step"):
            fields[key] = plain_json(value)
        else:
            findings.error(
                text_place(root, key),
                f"{quoted(key)} does not belong to a tool: 'sluice:bind' does, and what belongs to"
                " a step",
            )
    if (bind or fields) and (root.get("$namespaces") or {}).get("sluice") != NAMESPACE:
        findings.error(
            START,
            "the prefix 'sluice' is not declared: add '$namespaces: {sluice:"
            f' "{NAMESPACE}"}}\' to the tool',
        )
    return bind, fields


def _ports(root: CommentedMap, key: str) -> dict[str, ToolPort]:
    return {
        port.name: _port(port.name, port.value if port.body is None else port.body)
        for port in named_nodes(root.get(key))
    }


def _port(name: str, declaration: Any) -> ToolPort:
    is_body = isinstance(declaration, CommentedMap) and "type" in declaration
    kind = normal_type(plain_json(declaration["type"] if is_body else declaration))
    item, depth = _item(without_null(kind))
    declared_format = declaration.get("format") if is_body else None
    plain_format = (
        declared_format if isinstance(declared_format, str) and "$" not in declared_format else None
    )
    return ToolPort(
        name=name,
        type=kind,
        item=item,
        depth=depth,
        optional=is_optional(kind),
        default=plain_json(declaration.get("default")) if is_body else None,
        format=plain_format,
        doc=documentation(declaration) if is_body else "",
    )


def _item(kind: Any) -> tuple[str | None, int]:
    match kind:
        case "File" | "Directory":
            return kind, 0
        case {"type": "array", "items": items}:
            item, depth = _item(without_null(items))
            return item, depth + 1
    return None, 0


def _body(text: str) -> str:
    """Return the process with its comments, without the fields of a document."""
    yaml = YAML(typ="rt")
    yaml.width = 100
    yaml.preserve_quotes = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    root = yaml.load(text)
    for key in [key for key in root if key in _DOCUMENT_FIELDS or str(key).startswith("sluice:")]:
        del root[key]
    out = StringIO()
    yaml.dump(root, out)
    return out.getvalue()
