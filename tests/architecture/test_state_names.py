"""State names are spelled only in ``sluice/contracts/common/states.py``, and in migrations.

Comparisons, defaults and SQL use the members. Migrations are exempt, as they do the same forever.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from enum import StrEnum

import pytest

from sluice.contracts.common import states
from tests.architecture.sources import TEST_FOLDERS, Source, list_sources

#: Kinds of storage and data set (input, output, logs) and of devices are names of other things,
#: too.
WORDS = {
    states.DatasetType,
    states.StorageType,
    states.TaskMode,
    states.DeviceType,
    states.WatchKind,
}
ENUMS = [
    value
    for _, value in inspect.getmembers(states, inspect.isclass)
    if issubclass(value, StrEnum) and value is not StrEnum
]
NAMES = frozenset(str(member) for enum in ENUMS if enum not in WORDS for member in enum)

#: File → why it may spell state names.
EXEMPT = {"bench/bookkeeping.py": ("the benchmark's counterpart is a plain table of its own")}

#: Folder of tests → why it may spell state names.
EXEMPT_TESTS = {
    "tests/architecture/": "it names what the checks find",
    "tests/faults/checker/": "it shares no code with the system that it judges",
}

#: Names of columns, fields, arguments and keys that hold a state.
HOLDERS = {"state", "status", "outcome", "error_class", "reported", "answer"}

SQL = re.compile(
    rf"\b({'|'.join(HOLDERS)})\b\s*(?:=|<>|!=|\bNOT\s+IN\b|\bIN\b)\s*\(?\s*'([a-z_]+)'",
    re.IGNORECASE,
)


def find_bare_names(source: Source) -> Iterator[str]:
    """Yield state names that are written as strings where a state is meant."""
    for node in source.nodes:
        for place in _list_places(node):
            if isinstance(place, ast.Constant) and place.value in NAMES:
                yield f"{source.at(place)}: {place.value!r}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (
                f"{source.at(node)}: SQL with {match[2]!r}"
                for match in SQL.finditer(node.value)
                if match[2] in NAMES
            )


def _list_places(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left=left, comparators=others):
            if any(_holds_state(side) for side in (left, *others)):
                yield from (left, *others)
                yield from (
                    item
                    for side in others
                    if isinstance(side, ast.Set | ast.Tuple | ast.List)
                    for item in side.elts
                )
        case ast.Match(subject=subject, cases=cases) if _holds_state(subject):
            yield from (
                part.value
                for each in cases
                for part in ast.walk(each.pattern)
                if isinstance(part, ast.MatchValue)
            )
        case ast.keyword(arg=name, value=value) if name in HOLDERS:
            yield value
        case ast.Dict(keys=keys, values=values):
            yield from (
                value
                for key, value in zip(keys, values, strict=True)
                if isinstance(key, ast.Constant) and key.value in HOLDERS
            )
        case ast.AnnAssign(
            target=ast.Name(id=name) | ast.Attribute(attr=name), value=ast.Constant() as value
        ) if name in HOLDERS:
            yield value
        case ast.Assign(targets=[target], value=value) if _holds_state(target):
            yield value


def _holds_state(node: ast.AST) -> bool:
    """Return whether a node is ``x.state``, ``state`` or ``row["state"]``."""
    match node:
        case (
            ast.Name(id=name)
            | ast.Attribute(attr=name)
            | ast.Subscript(slice=ast.Constant(value=name))
        ):
            return name in HOLDERS
    return False


def test_product_does_not_spell_state_names() -> None:
    files = [
        source
        for source in list_sources("sluice", "dms", "wms", "wfms", "pilot")
        if source.name not in EXEMPT
        and not source.name.startswith("sluice/contracts")
        and "/db/migrations/" not in source.name
    ]
    assert len(files) > 100, "the product was not found"
    findings = [finding for source in files for finding in find_bare_names(source)]
    assert not findings, "\n".join(["use the enum's member:", *findings])


def test_tests_do_not_spell_state_names() -> None:
    """Expected answers are exempt: states are words there."""
    files = [
        source
        for source in list_sources(*TEST_FOLDERS)
        if not source.name.startswith(tuple(EXEMPT_TESTS))
    ]
    assert len(files) > 100, "the tests were not found"
    findings = [finding for source in files for finding in find_bare_names(source)]
    assert not findings, "\n".join(["use the enum's member:", *findings])


@pytest.mark.parametrize(
    "text",
    [
        "if job.state == 'ready': pass",
        "if row['state'] in ('ready', 'leased'): pass",
        "if 'lost' != outcome: pass",
        "match state:\n    case 'finished': pass",
        "update(state='failed')",
        "x = {'status': 'in_progress'}",
        "state = 'open'",
        "row['state'] = 'open'",
        "sql = \"UPDATE jobs SET state = 'ready' WHERE id = $1\"",
        "sql = \"SELECT 1 FROM jobs WHERE state IN ('leased', 'running')\"",
    ],
)
def test_spelled_state_names_are_found(text: str) -> None:
    assert list(find_bare_names(Source("x.py", ast.parse(text))))


@pytest.mark.parametrize(
    "text",
    [
        "if job.state is JobState.READY: pass",
        "if name == 'ready': pass",
        "match kind:\n    case 'gone': pass",
        "log.info('ready')",
        "sql = f\"WHERE state = '{JobState.READY}'\"",
        'sql = "WHERE state = ANY($2)"',
    ],
)
def test_other_words_are_not_taken_for_state_names(text: str) -> None:
    assert not list(find_bare_names(Source("x.py", ast.parse(text))))
