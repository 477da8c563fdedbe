"""Tests wait for conditions (``tests/waiting.py``) and at gates, and never for a fixed time."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.sources import ROOT, TEST_FOLDERS, Source, list_sources

#: File or folder → why it may sleep.
EXEMPT = {
    "tests/waiting.py": "implements the waiting of all other tests",
    "tests/guard.py": "outlives the tests, and uses the standard library only",
    "tests/faults/": "faults and work have fixed times",
    "tests/integration/pilot/test_pilot.py": "some tests require that nothing happens for a while",
}
#: A sleep of this many seconds stands for a process that hangs until it is ended.
HANG_SECONDS = 50
#: ``sleep 0.02``, ``time.sleep(60)`` or ``[sleep, '1000']`` in programs that tests start.
SLEEP = re.compile(r"\bsleep\b[\s\"',(]*(?P<seconds>[\d.]+)?")


PROGRAM = re.compile(r"(/\S*/)?sleep")


def find_sleeps(source: Source) -> Iterator[str]:
    """Yield the places where a test, or a program that it starts, sleeps."""
    documentation = {id(node) for node in _list_docstrings(source.tree)}
    for node in source.nodes:
        match node:
            case ast.Call(args=[ast.Constant(value=0)]):
                pass
            case ast.Call(func=ast.Attribute(attr="sleep") | ast.Name(id="sleep")):
                yield f"{source.at(node)}: {ast.unparse(node)}"
            case ast.List(elts=[ast.Constant(value=str(name)), ast.Constant(value=str(text)), *_]):
                if PROGRAM.fullmatch(name):
                    yield from _find_short_sleeps(source, node, f"sleep {text}")
            case ast.Constant(value=str(text)) if id(node) not in documentation:
                if not PROGRAM.fullmatch(text):
                    yield from _find_short_sleeps(source, node, text)


def _find_short_sleeps(source: Source, node: ast.AST, text: str) -> Iterator[str]:
    for match in SLEEP.finditer(text):
        if match["seconds"] is None or float(match["seconds"]) < HANG_SECONDS:
            yield f"{source.at(node)}: {match[0]!r}"


def _list_docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        match node:
            case (
                ast.Module(body=[ast.Expr(value=first), *_])
                | ast.ClassDef(body=[ast.Expr(value=first), *_])
                | ast.FunctionDef(body=[ast.Expr(value=first), *_])
                | ast.AsyncFunctionDef(body=[ast.Expr(value=first), *_])
            ):
                yield first


def test_tests_do_not_sleep() -> None:
    files = [
        source
        for source in list_sources(*TEST_FOLDERS)
        if not source.name.startswith(("tests/architecture/", *EXEMPT))
    ]
    assert len(files) > 100, "the tests were not found"
    findings = [finding for source in files for finding in find_sleeps(source)]
    assert not findings, "\n".join(["wait for a condition (tests/waiting.py):", *findings])


def find_replacements_of_time(source: Source) -> Iterator[str]:
    """Yield the places where a test replaces a function of the module ``time``."""
    for node in source.nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(attr="setattr"),
                args=[
                    ast.Name(id="time")
                    | ast.Attribute(attr="time")
                    | ast.Constant(value="time.sleep" | "time.monotonic" | "time.time"),
                    *_,
                ],
            ):
                yield f"{source.at(node)}: {ast.unparse(node)}"


def test_tests_do_not_replace_functions_of_time() -> None:
    findings = [
        finding
        for source in list_sources(*TEST_FOLDERS)
        for finding in find_replacements_of_time(source)
    ]
    assert not findings, "\n".join(
        ["other threads of the test process call them, too; pass a clock instead:", *findings]
    )


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("monkeypatch.setattr(time, 'sleep', wait)", True),
        ("monkeypatch.setattr(dummy.time, 'monotonic', lambda: 1)", True),
        ("monkeypatch.setattr('time.sleep', wait)", True),
        ("monkeypatch.setattr(session, 'sleep', wait)", False),
    ],
)
def test_replaced_functions_of_time_are_found(text: str, is_found: bool) -> None:
    assert bool(list(find_replacements_of_time(Source("x.py", ast.parse(text))))) is is_found


def test_cwl_tools_of_tests_do_not_sleep() -> None:
    findings = [
        f"{path.relative_to(ROOT)}: {sleep[0]!r}"
        for folder in TEST_FOLDERS
        for path in sorted((ROOT / folder).rglob("*.cwl"))
        if not str(path.relative_to(ROOT)).startswith(tuple(EXEMPT))
        for sleep in SLEEP.finditer(path.read_text())
        if sleep["seconds"] is None or float(sleep["seconds"]) < HANG_SECONDS
    ]
    assert not findings, "\n".join(findings)


@pytest.mark.parametrize("place", EXEMPT)
def test_exempt_files_do_sleep(place: str) -> None:
    assert [
        finding
        for source in list_sources(*TEST_FOLDERS)
        if source.name.startswith(place)
        for finding in find_sleeps(source)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "time.sleep(1)",
        "await asyncio.sleep(0.1)",
        "sleep(pause)",
        "run(['sh', '-c', 'touch a; sleep 1; touch b'])",
        "run(['sleep', '5'])",
        "run(['/bin/sleep', '5'])",
        "run([python, '-c', 'import time; time.sleep(0.02)'])",
        "command = 'sleep $1'",
    ],
)
def test_short_sleeps_are_found(text: str) -> None:
    assert list(find_sleeps(Source("x.py", ast.parse(text))))


@pytest.mark.parametrize(
    "text",
    [
        "run(['sleep', '1000'])",
        "run(['/bin/sleep', '1000'])",
        "await asyncio.sleep(0)",
        "run(['sh', '-c', 'trap \"\" TERM; sleep 600'])",
        "'''Nothing sleeps here: no sleep 1.'''",
        "name in {'conmon', 'sleep'}",
        "say('asleep for 3 s')",
    ],
)
def test_long_sleeps_and_other_text_are_not_found(text: str) -> None:
    assert not list(find_sleeps(Source("x.py", ast.parse(text))))
