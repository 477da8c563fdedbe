"""Hostile template texts, with a part of the expected error."""

import random

from tests.unit.cwl.samples import LINEAR, edit_text

#: A YAML alias bomb: each line repeats the previous line eight times.
ALIASES = "a: &a [x, x]\n" + "".join(
    f"{chr(i + 1)}: &{chr(i + 1)} [{', '.join(['*' + chr(i)] * 8)}]\n" for i in range(97, 110)
)

#: The work of CWL libraries doubles with each level of these types.
ARRAYS = "{type: array, items: " * 40 + "string" + "}" * 40

RECORDS = "{type: record, name: r, fields: [{name: x, type: " * 14 + "int" + "}]}" * 14

HOSTILE = {
    "empty": ("", "the text is empty"),
    "too large": ("x" * 5_000_000, "5000000 bytes are too many"),
    "random bytes": (random.Random(1).randbytes(1_000_000).decode("latin-1"), "not"),
    "not UTF-8": ("class: \udcff", "not valid UTF-8"),
    "NUL": ("class: Work\0flow", "NUL"),
    "control character": ("# é\nclass: \x07", "not allowed in YAML"),
    "open brackets": ("[" * 1_000_000, "levels of nesting"),
    "open braces": ("{" * 1_000_000, "levels of nesting"),
    "dashes": ("- " * 500_000, "levels of nesting"),
    "keys": ("".join(f"k{i}: {i}\n" for i in range(100_000)), "entries in one list or mapping"),
    "inputs": (
        edit_text(("  frames: File[]", "\n".join(f"  f{i}: F{i}" for i in range(900)))),
        "more findings are",
    ),
    "steps": (
        "class: Workflow\nsteps:\n" + "".join(f"  s{i}: {{}}\n" for i in range(900)),
        "more findings are not shown",
    ),
    "alias bomb": (ALIASES, "values up to here"),
    "alias of itself": ("a: &a [*a]", "refers to itself"),
    "alias of nothing": ("a: *b", "does not exist"),
    "Python object": ("a: !!python/object/apply:os.system [id]", "tag"),
    "two documents": ("a: 1\n---\nb: 2", "second YAML document"),
    "text": ("Lorem ipsum dolor", "not CWL"),
    "list": ("- 1\n- 2", "not CWL"),
    "keys that are no names": ("class: Workflow\n? [a]\n: b", "a key must be a plain name"),
    "nested arrays": (
        edit_text(("  frames: File[]", f"  p: {{type: {ARRAYS}}}\n  frames: File[]")),
        "at most 10 levels of arrays and records",
    ),
    "nested arrays in short": (
        edit_text(("  frames: File[]", f"  p: string{'[]' * 40}\n  frames: File[]")),
        "at most 10 levels of arrays and records",
    ),
    "nested records": (
        edit_text(("  frames: File[]", f"  p: {{type: {RECORDS}}}\n  frames: File[]")),
        "at most 10 levels of arrays and records",
    ),
    "turned command": (
        edit_text(("baseCommand:", "baseCommand: [sh, -c, 'echo \u202e;x mr\u202c'] #")),
        "the character U+202E changes the order in which the following text is displayed",
    ),
    "long number": ("class: " + "9" * 1_000_000, "the class here is"),
}  # fmt: skip


def make_forty_steps() -> str:
    head, steps = LINEAR.split("steps:\n")
    first, join = steps.split("  join:\n")
    middle = "".join(
        first.replace("  count:", f"  count{i}:").replace(
            "frame: frames", f"frame: count{i - 1}/number" if i else "frame: frames"
        )
        for i in range(39)
    )
    return f"{head}steps:\n{middle}  join:\n{join}".replace("count/number", "count38/number")
