"""A tool of the library: a CommandLineTool whose text says by itself all that is needed to join it
with others.

Beside what CWL has, extension fields of ours may stand on it: ``sluice:bind``, which goes to the
workflow that is composed, and those of a step (``sluice:retry``, ``sluice:boundary`` …), which go
to its step."""

from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.contracts.problems import Finding
from sluice.cwl.checks.type_depth import check_type_depth
from sluice.cwl.documents.types import is_optional, normal_type, without_null
from sluice.cwl.plan.documentation import documentation
from sluice.cwl.properties.extension_fields import FIELDS
from sluice.cwl.properties.extension_reader import NAMESPACE
from sluice.cwl.reading.findings import START, Findings, text_place
from sluice.cwl.reading.nodes import named_nodes, plain_json
from sluice.cwl.reading.yaml_text import read_text

#: Bytes of a tool's text.
MOST_TOOL = 256 * 1024
#: What stands on the workflow, or is not of a process inside one.
_OF_DOCUMENTS = ("cwlVersion", "$namespaces", "$schemas", "id")
#: What names other files.
_INCLUSIONS = ("$import", "$include", "$mixin", "$graph")


@dataclass(frozen=True, slots=True)
class ToolPort:
    """``item``: what it is of, File or Directory; None: a value. ``depth``: of how many lists
    around it. ``type``: as CWL has it, written out. ``format``: an address; None: it says none."""

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
    """``bind``, ``fields``: what its extension fields say for the workflow and for its step.
    ``body``: the text of the process itself, from the first column on."""

    version: str
    doc: str
    inputs: dict[str, ToolPort]
    outputs: dict[str, ToolPort]
    body: str
    namespaces: dict[str, str] = field(default_factory=dict)
    bind: dict[str, str] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)


def read_tool(text: str, *, file: str) -> tuple[LibraryTool | None, list[Finding]]:
    """None with errors among the findings where it is no tool that can be joined. What else is
    wrong with it, a compiler says of a workflow that is composed of it."""
    findings = Findings(file)
    if len(text.encode(errors="replace")) > MOST_TOOL:
        findings.error(START, f"a tool of the library has at most {MOST_TOOL} bytes")
        return None, findings.sorted()
    root = read_text(text, findings)
    if root is None and findings.failed:
        return None, findings.sorted()
    if not isinstance(root, CommentedMap) or root.get("class") != "CommandLineTool":
        found = root.get("class") if isinstance(root, CommentedMap) else None
        findings.error(
            START, f"not a CommandLineTool, which is what the library has, but {found or 'none'}"
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
                text_place(root, "sluice:bind"), f"'sluice:bind': the tool has no input '{name}'"
            )
    return (None if findings.failed else tool), findings.sorted()


def _refuse_other_files(node: Any, findings: Findings) -> None:
    """A tool of the library is one text."""
    if isinstance(node, CommentedMap):
        for key, value in node.items():
            if key in _INCLUSIONS:
                findings.error(
                    text_place(node, key), f"'{key}': a tool of the library stands in one file"
                )
            else:
                _refuse_other_files(value, findings)
    elif isinstance(node, CommentedSeq):
        for item in node:
            _refuse_other_files(item, findings)


def _extensions(root: CommentedMap, findings: Findings) -> tuple[dict[str, str], dict[str, Any]]:
    """``sluice:bind``, and the fields for the step, as they are written."""
    bind: dict[str, str] = {}
    fields: dict[str, Any] = {}
    for key, value in root.items():
        name = key.removeprefix("sluice:")
        if name == key:
            continue
        if name == "bind" and isinstance(value, CommentedMap):
            bind = {str(port): str(target) for port, target in value.items()}
        elif name in FIELDS and FIELDS[name].may_stand_on("step"):
            fields[key] = plain_json(value)
        else:
            findings.error(
                text_place(root, key),
                f"'{key}' does not belong to a tool: 'sluice:bind' does, and what belongs to a"
                " step",
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


def _port(name: str, written: Any) -> ToolPort:
    is_body = isinstance(written, CommentedMap) and "type" in written
    kind = normal_type(plain_json(written["type"] if is_body else written))
    item, depth = _item(without_null(kind))
    given = written.get("format") if is_body else None
    plain_format = given if isinstance(given, str) and "$" not in given else None
    return ToolPort(
        name=name,
        type=kind,
        item=item,
        depth=depth,
        optional=is_optional(kind),
        default=plain_json(written.get("default")) if is_body else None,
        format=plain_format,
        doc=documentation(written) if is_body else "",
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
    """With its comments, and without what is not of a process inside a workflow."""
    yaml = YAML(typ="rt")
    yaml.width = 100
    yaml.preserve_quotes = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    root = yaml.load(text)
    for key in [key for key in root if key in _OF_DOCUMENTS or str(key).startswith("sluice:")]:
        del root[key]
    out = StringIO()
    yaml.dump(root, out)
    return out.getvalue()
