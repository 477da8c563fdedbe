"""Attacks by which a job would give files that do not belong to it. In all texts, VICTIMS is the
folder of the victims and UP is the path of ``..`` to the root folder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sluice.contracts.common.states import EntryKind

#: How a job runs a tool: alone, in a batch, in an inner workflow, for an invocation, in a
#: container, or in a container of an inner workflow.
TOOL, BATCH, WORKFLOW, INVOCATION = "tool", "batch", "workflow", "invocation"
CONTAINER, INNER_CONTAINER = "container", "inner container"
_FREE = (TOOL, WORKFLOW, INVOCATION)
_CONTAINED = (*_FREE, CONTAINER)
_ALL = (*_CONTAINED, INNER_CONTAINER)

_FOREIGN_FILE_MESSAGE = "not a file of the job"
_SPECIAL = "is neither a file nor a folder"


@dataclass(frozen=True)
class Attack:
    """An attack by the output of a tool.

    ``script`` runs in the output folder of the tool. ``binding`` is the binding of its output
    ``o``. ``fields`` are further fields of the tool. ``message`` is a part of the error, which also
    names the output."""

    name: str
    script: str
    binding: Mapping[str, Any] = field(default_factory=lambda: {"glob": "x"})
    type: Any = "File"
    message: str = _FOREIGN_FILE_MESSAGE
    executions: tuple[str, ...] = _FREE
    port: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    requirements: tuple[Mapping[str, Any], ...] = ()

    @property
    def kind(self) -> EntryKind:
        return EntryKind.FILE if self.type == "File" and not self.port else EntryKind.BUNDLE


def _make_default_script(value: Any) -> str:
    return f"cat > cwl.output.json <<'END'\n{json.dumps({'o': value})}\nEND\n"


def _make_file_value(**fields: Any) -> dict[str, Any]:
    return {"class": "File", **fields}


_WORK_FOLDER = "InitialWorkDirRequirement"

ATTACKS = [
    Attack("link to a file", "ln -s VICTIMS/secret.txt x", executions=(*_ALL, BATCH)),
    Attack("link by a link", 'ln -s VICTIMS/secret.txt a; ln -s a b; ln -s "$PWD/b" x'),
    Attack("relative link", "ln -s UPVICTIMS/secret.txt x"),
    Attack("link through proc", "ln -s /proc/self/root/VICTIMS/secret.txt x"),
    Attack("link in a circle", "ln -s x y; ln -s y x", message="more than 40 links"),
    Attack("file in a linked folder", "ln -s VICTIMS d", {"glob": "d/secret.txt"},
           executions=(*_ALL, BATCH)),
    Attack("file in a folder linked through proc", "ln -s /proc/self/cwd/UP d",
           {"glob": "d/VICTIMS/secret.txt"}),
    Attack("files in a linked folder", "ln -s VICTIMS d", {"glob": "d/*.txt"}, "File[]"),
    Attack("every linked folder's file", "ln -s VICTIMS d", {"glob": "*/secret.txt"},
           message="nothing matches", executions=_CONTAINED),
    Attack("pattern that leads up", "true", {"glob": "UPVICTIMS/secret.txt"},
           executions=_CONTAINED),
    Attack("pattern over folders that leads up", "mkdir d", {"glob": "*/../UPVICTIMS/secret.txt"},
           message="nothing matches"),
    Attack("pattern from the root folder", "true", {"glob": "VICTIMS/secret.txt"},
           message="must not start with '/'"),
    Attack(
        "path of an expression that leads up",
        "true",
        {"outputEval": '$({"class": "File", "path": runtime.outdir + "/UPVICTIMS/secret.txt"})'},
        executions=_CONTAINED,
    ),
    Attack(
        "absolute path of an expression",
        "true",
        {"outputEval": '$({"class": "File", "path": "VICTIMS/secret.txt"})'},
        message="must be within designated output directory",
    ),
    Attack("location in the output object",
           _make_default_script(_make_file_value(location="VICTIMS/secret.txt")),
           executions=_CONTAINED),
    Attack("location in the output object that leads up",
           _make_default_script(_make_file_value(location="UPVICTIMS/secret.txt"))),
    Attack("path in the output object that leads up",
           _make_default_script(_make_file_value(path="UPVICTIMS/secret.txt"))),
    Attack("linked output object", "ln -s VICTIMS/answer.json cwl.output.json", {}, "string",
           executions=_ALL),
    Attack("output object that nobody writes", "mkfifo cwl.output.json", {}, "string",
           message=_SPECIAL, executions=_CONTAINED),
    Attack(
        "linked secondary file",
        "echo 1 > x; ln -s VICTIMS/secret.txt x.idx",
        port={"secondaryFiles": [".idx"]},
        executions=_CONTAINED,
    ),
    Attack(
        "secondary file that leads up",
        "echo 1 > x",
        port={"secondaryFiles": ['$("UPVICTIMS/secret.txt")']},
    ),
    Attack("folder with a linked file", "mkdir d; ln -s VICTIMS/secret.txt d/x", {"glob": "d"},
           "Directory", executions=_CONTAINED),
    Attack("folder with a linked folder", "mkdir d; ln -s VICTIMS d/x", {"glob": "d"}, "Directory",
           executions=_CONTAINED),
    Attack("linked folder", "ln -s VICTIMS d", {"glob": "d"}, "Directory", executions=_CONTAINED),
    Attack("folder that leads up", "true", {"glob": "UPVICTIMS"}, "Directory"),
    Attack("content of a linked file", "ln -s VICTIMS/secret.txt x",
           {"glob": "x", "loadContents": True, "outputEval": "$(self[0].contents)"}, "string",
           executions=_CONTAINED),
    Attack("names in a linked folder", "ln -s VICTIMS d",
           {"glob": "d", "loadListing": "deep_listing",
            "outputEval": "$(JSON.stringify(self[0].listing))"}, "string"),
    Attack("size of a linked file", "ln -s VICTIMS/secret.txt x",
           {"glob": "x", "outputEval": "$(self[0].size)"}, "long"),
    Attack("output stream that leads up", "true", {"glob": "*"}, message="must be a relative path",
           fields={"stdout": "UPVICTIMS/secret.txt"}),
    Attack("pipe", "mkfifo x", message=_SPECIAL, executions=_CONTAINED),
    Attack("pipe in a folder", "mkdir d; mkfifo d/x", {"glob": "d"}, "Directory", message=_SPECIAL),
    Attack("device", "ln -s /dev/zero x", executions=_CONTAINED),
    Attack("socket", "python3 -c 'import socket; socket.socket(1).bind(\"x\")'", message=_SPECIAL),
    Attack("linked folder of outputs", 'cd ..; mv "$OLDPWD" "$OLDPWD.old"; ln -s VICTIMS "$OLDPWD"',
           {"glob": "secret.txt"}),
    Attack("linked temporary folder", "mkdir d; cd ..; mv tmp old; ln -s VICTIMS tmp",
           {"glob": "d"}, "Directory",
           message="'tmp' is not a folder of the job", executions=(TOOL, INVOCATION)),
    Attack("input stream", "cat > x", fields={"stdin": "VICTIMS/secret.txt"},
           executions=(TOOL, INVOCATION)),
    Attack("linked error stream", "rm err; ln -s VICTIMS/errors err; exit 1", {"glob": "*"},
           message="ended with exit code 1",
           fields={"stderr": "err"}, executions=(TOOL, WORKFLOW, CONTAINER, INNER_CONTAINER)),
    Attack(
        "linked folder of an input that was put there",
        "mv sub old; ln -s VICTIMS sub; echo 1 > x",
        requirements=({"class": _WORK_FOLDER,
                       "listing": [{"entryname": "sub/secret.txt", "entry": "$(inputs.f)"}]},),
        message="'sub'",
        executions=_ALL,
    ),
    Attack(
        "copy of a file that an expression names",
        "true",
        requirements=({"class": _WORK_FOLDER, "listing": """${
            return [{"class": "File", "location": "file://VICTIMS/secret.txt",
                     "basename": "x", "writable": true}]; }"""},),
        executions=_CONTAINED,
    ),
    Attack(
        "file that an expression puts elsewhere",
        "echo 1 > x",
        requirements=({"class": _WORK_FOLDER, "listing": """${
            return [{"class": "Directory", "basename": "d", "listing": [
              {"class": "File", "basename": "UPVICTIMS/secret.txt",
               "contents": "planted"}]}]; }"""},),
        message="is not a file name",
        executions=_CONTAINED,
    ),
    Attack(
        "folder elsewhere that an expression names",
        "echo 1 > x",
        requirements=({"class": _WORK_FOLDER, "listing": """${
            return [{"class": "File", "dirname": "VICTIMS/folder", "contents": "planted"}]; }"""},),
        message="outside of the job's folders",
    ),
]  # fmt: skip

#: Attacks by the output object of an expression.
EXPRESSIONS = [
    ("file", "File", _make_file_value(location="file://VICTIMS/secret.txt")),
    ("file without a scheme", "File", _make_file_value(location="VICTIMS/secret.txt")),
    ("file that leads up", "File", _make_file_value(location="file:///tmp/UPVICTIMS/secret.txt")),
    ("folder", "Directory", {"class": "Directory", "location": "file://VICTIMS/folder"}),
    (
        "file in a folder",
        "Directory",
        {
            "class": "Directory",
            "basename": "d",
            "listing": [_make_file_value(location="file://VICTIMS/secret.txt")],
        },
    ),
    (
        "secondary file",
        "File",
        _make_file_value(
            basename="x",
            contents="x",
            secondaryFiles=[_make_file_value(location="file://VICTIMS/secret.txt")],
        ),
    ),
    ("list", "File[]", [_make_file_value(location="file://VICTIMS/secret.txt")]),
]
