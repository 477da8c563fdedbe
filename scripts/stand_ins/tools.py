"""Replacement of the tools of a workflow by stand-ins that have the same interface.

A stand-in is an ExpressionTool. Its outputs have the declared types. Their names and contents
depend on all that the tool gets, so that a wrong input changes the outputs.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scripts.stand_ins.types import choose_type, list_ports, list_suffixes, list_symbols
from sluice.contracts.templates.secondary_files import record_fields

_KEPT = (
    "InlineJavascriptRequirement",
    "MultipleInputFeatureRequirement",
    "ScatterFeatureRequirement",
    "SchemaDefRequirement",
    "StepInputExpressionRequirement",
    "SubworkflowFeatureRequirement",
)

_EXPRESSION = """${
  function text(v) {
    if (v === null || v === undefined) return "null";
    if (Array.isArray(v)) return "[" + v.map(text).join(",") + "]";
    if (typeof v !== "object") return String(v);
    if (v["class"] === "File" || v["class"] === "Directory") {
      var beside = (v.secondaryFiles || []).map(text).sort();
      return v["class"] + ":" + [v.basename].concat(beside).join("+");
    }
    var fields = Object.keys(v).sort().map(function(k) { return k + ":" + text(v[k]); });
    return "{" + fields.join(",") + "}";
  }
  function hash(s) {
    var h = 5381;
    for (var i = 0; i < s.length; i++) h = (h * 33 + s.charCodeAt(i)) % 4294967296;
    return ("0000000" + h.toString(16)).slice(-8);
  }
  var all = NAMES.map(function(n) { return n + "=" + text(inputs[n]); }).join(";");
  var h = hash(all), number = parseInt(h.slice(-4), 16) % 100;
  function file(name, secondary) {
    var f = {"class": "File", "basename": name, "contents": all.slice(0, 3000) + "\\n"};
    if (secondary) f.secondaryFiles = secondary;
    return f;
  }
  return OUTPUTS;
}"""
_SIMPLE = {
    "int": "number",
    "long": "number",
    "float": "(number + 0.5)",
    "double": "(number + 0.5)",
    "boolean": "(number % 2 === 0)",
    "Any": "h",
    "null": "null",
}


def replace_tools(workflow: dict[str, Any], types: Mapping[str, Any], *, nulls: bool) -> None:
    """Replace the tools of a workflow and of the workflows in it.

    Args:
        workflow: The workflow as plain JSON, which is changed.
        types: The named types.
        nulls: Whether half of the optional outputs are null.

    Raises:
        KeyError: An output has an unknown type.
    """
    _drop_requirements(workflow)
    for port in (*list_ports(workflow.get("inputs")), *list_ports(workflow.get("outputs"))):
        _drop_formats(port[1])
    steps = workflow.get("steps") or []
    for step in steps.values() if isinstance(steps, dict) else steps:
        _drop_requirements(step)
        run = step.get("run")
        if isinstance(run, dict) and run.get("class") == "Workflow":
            replace_tools(run, types, nulls=nulls)
        elif isinstance(run, dict):
            step["run"] = _make_stand_in(run, _Writer(types, nulls))


class _Writer:
    """Writes the JavaScript of outputs."""

    def __init__(self, types: Mapping[str, Any], nulls: bool) -> None:
        self._types = types
        self._nulls = nulls

    def write(self, declared_type: Any, name: str, suffixes: Sequence[str]) -> str:
        """Return JavaScript for a value of a type."""
        kind, is_optional = choose_type(declared_type, self._types)
        value = self._write_value(kind, name, suffixes)
        return f"(number % 2 ? null : {value})" if is_optional and self._nulls else value

    def _write_value(self, kind: Any, name: str, suffixes: Sequence[str]) -> str:
        match kind:
            case {"type": "array", "items": items}:
                parts = (self.write(items, f"{name}-{n}", suffixes) for n in (1, 2))
                value = f"[{', '.join(parts)}]"
            case {"type": "record"}:
                parts = (
                    f"{json.dumps(field)}: "
                    + self.write(part, f"{name}-{field}", [one.pattern for one in patterns])
                    for field, (part, patterns) in record_fields(kind).items()
                )
                value = f"{{{', '.join(parts)}}}"
            case {"type": "enum"}:
                value = json.dumps(list_symbols(kind)[0])
            case "string":
                value = f"{json.dumps(f'{name}-')} + h"
            case "Directory":
                start = f'{{"class": "Directory", "basename": {json.dumps(f"{name}-")} + h'
                value = f'{start}, "listing": [file("a.txt")]}}'
            case "File":
                value = _write_file(name, suffixes)
            case _:
                value = _SIMPLE[kind]
        return value


def _write_file(name: str, suffixes: Sequence[str]) -> str:
    stem = f"{json.dumps(f'{name}-')} + h"
    endings = [
        suffix.lstrip("^") if suffix.startswith("^") else f".txt{suffix}" for suffix in suffixes
    ]
    secondary = [f"file({stem} + {json.dumps(ending)})" for ending in endings]
    more = f", [{', '.join(secondary)}]" if secondary else ""
    return f'file({stem} + ".txt"{more})'


def _make_stand_in(tool: dict[str, Any], writer: _Writer) -> dict[str, Any]:
    inputs = [
        {"id": name}
        | {
            key: port[key]
            for key in ("type", "secondaryFiles", "default", "loadContents")
            if key in port
        }
        for name, port in list_ports(tool.get("inputs"))
    ]
    outputs = list(list_ports(tool.get("outputs")))
    values = (
        f"{json.dumps(name)}: {writer.write(port.get('type'), name, list_suffixes(port))}"
        for name, port in outputs
    )
    names = json.dumps(sorted(port["id"] for port in inputs))
    stand_in = {
        "class": "ExpressionTool",
        "inputs": inputs,
        "outputs": [_declare_output(name, port) for name, port in outputs],
        "expression": _EXPRESSION.replace("NAMES", names).replace(
            "OUTPUTS", f"{{{', '.join(values)}}}"
        ),
    }
    stand_in |= {key: tool[key] for key in ("cwlVersion", "requirements") if key in tool}
    _drop_requirements(stand_in)
    _drop_formats(stand_in["inputs"])
    _drop_formats(stand_in["outputs"])
    _require_javascript(stand_in)
    return stand_in


def _declare_output(name: str, port: Mapping[str, Any]) -> dict[str, Any]:
    kind = port.get("type")
    declared: dict[str, Any] = {
        "id": name,
        "type": "File" if kind in ("stdout", "stderr") else kind,
    }
    return declared | ({"secondaryFiles": suffixes} if (suffixes := list_suffixes(port)) else {})


def _require_javascript(process: dict[str, Any]) -> None:
    requirements = process.setdefault("requirements", [])
    if isinstance(requirements, dict):
        requirements.setdefault("InlineJavascriptRequirement", {})
    elif not any(each["class"] == "InlineJavascriptRequirement" for each in requirements):
        requirements.append({"class": "InlineJavascriptRequirement"})


def _drop_requirements(node: dict[str, Any]) -> None:
    """Remove what concerns tools only, which stand-ins are not."""
    for key in ("requirements", "hints"):
        declared = node.pop(key, None)
        kept = (
            {name: body for name, body in declared.items() if name in _KEPT}
            if isinstance(declared, dict)
            else [body for body in declared or () if body.get("class") in _KEPT]
        )
        if kept:
            node[key] = kept


def _drop_formats(node: Any) -> None:
    if isinstance(node, dict):
        for key in ("format", "streamable", "outputBinding", "inputBinding"):
            node.pop(key, None)
        node = [value for key, value in node.items() if key != "default"]
    for inner in node if isinstance(node, list) else ():
        _drop_formats(inner)
