"""Names use the terms of the glossary."""

import ast
import re
from collections.abc import Iterable, Iterator

from tests.architecture.sources import PRODUCT, ROOT, Source, configuration_files, sources

#: Words that had a different meaning in this project. The glossary has the terms instead.
ABOLISHED = frozenset(
    [
        "behalfs",
        "bury",
        "desk",
        "desks",
        "distrust",
        "distrusted",
        "doubts",
        "entrance",
        "lasting",
        "lately",
        "lending",
        "lendings",
        "lent",
        "reception",
        "ring",
        "rings",
        "rival",
        "rivals",
        "salvage",
        "shelf",
        "sight",
        "spelling",
        "story",
        "twin",
        "twins",
        "understood",
        "walls",
        "wish",
    ]
)

#: Participles that say nothing of what a variable contains. They may stand before a noun.
PARTICIPLES = frozenset(
    [
        "asked",
        "begun",
        "found",
        "given",
        "gone",
        "heard",
        "held",
        "kept",
        "known",
        "lent",
        "made",
        "meant",
        "noted",
        "said",
        "seen",
        "told",
        "wanted",
        "wrong",
    ]
)

#: Names of participles that other programs see: fields of contracts, columns, values of states.
OUTSIDE_NAMES = frozenset(
    [
        "sluice/cli/commands/system/doctor.py",
        "sluice/cli/options.py",
        "wfms/ask/db/devices.py",
        "wfms/operator/chains/domain/progress.py",
        "wms/db/dataflow/grouping_state.py",
        "wms/db/dataflow/tree_parts.py",
        "wms/domain/task_completion.py",
    ]
)

#: A comment in a configuration file or shell script, from its sign to the end of the line.
COMMENT = re.compile(r"(?:^|(?<=\s))#(?!!)(.*)|^\s*;(.*)", re.MULTILINE)


def names(source: Source) -> Iterator[tuple[str, str]]:
    """Yield each name that a module gives to itself or to what it defines, with its place."""
    yield source.name.rpartition("/")[2].removesuffix(".py"), source.name
    for node in source.nodes:
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name, source.at(node)
            case ast.arg():
                yield node.arg, source.at(node)
            case ast.Name(ctx=ast.Store()):
                yield node.id, source.at(node)
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr, source.at(node)


def words(name: str) -> list[str]:
    """Split ``TwoWords`` and ``two_words`` into ``two`` and ``words``."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def abolished(files: Iterable[Source]) -> list[str]:
    return [
        f"{place}: {name}"
        for source in files
        for name, place in names(source)
        if not is_outside_name(source.name)
        and (not ABOLISHED.isdisjoint(words(name)) or name.strip("_").lower() in PARTICIPLES)
    ]


def comment_words(text: str) -> set[str]:
    """Return the words of the comments in a configuration file or shell script."""
    return {word for comment in COMMENT.finditer(text) for word in words(comment[0])}


def is_outside_name(path: str) -> bool:
    """Return whether other programs see the names of a file."""
    return path.startswith("sluice/contracts/") or path in OUTSIDE_NAMES


def test_names_use_no_abolished_words() -> None:
    assert abolished(sources(*PRODUCT, "stack")) == []


def test_comments_of_configuration_files_use_no_abolished_words() -> None:
    found = {
        str(path.relative_to(ROOT)): used
        for path in configuration_files()
        if (used := (ABOLISHED - {"spelling"}) & comment_words(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_abolished_words_are_found_in_comments() -> None:
    text = "# Two walls.\nFOLDER=desk ; echo 'a reception'  # a twin\n; ring\n"
    assert ABOLISHED & comment_words(text) == {"walls", "twin", "ring"}


def test_files_with_outside_names_exist() -> None:
    assert {name for name in OUTSIDE_NAMES if not (ROOT / name).is_file()} == set()


def test_abolished_words_are_found_in_all_names() -> None:
    text = "class NodeWalls: ...\ndef look_for_rivals(told): ...\ndef string_of_rows(): ...\n"
    assert abolished([Source("dms/sight.py", ast.parse(text))]) == [
        "dms/sight.py: sight",
        "dms/sight.py:1: NodeWalls",
        "dms/sight.py:2: look_for_rivals",
        "dms/sight.py:2: told",
    ]
