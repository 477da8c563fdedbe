"""Names use the terms of the glossary."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

import pytest

from tests.architecture.sources import PRODUCT, ROOT, Source, list_configuration_files, list_sources

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
        "voter",
        "voters",
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

#: Adjectives, participles and superlatives that do not say what a field or parameter contains.
#: They may stand before a noun.
WITHOUT_NOUN = frozenset(
    [
        "assigned",
        "away",
        "called",
        "chosen",
        "declared",
        "elsewhere",
        "fewest",
        "highest",
        "largest",
        "latest",
        "least",
        "left",
        "locked",
        "longest",
        "lowest",
        "mine",
        "most",
        "newest",
        "oldest",
        "others",
        "ours",
        "passage",
        "prepared",
        "protected",
        "same",
        "shortest",
        "smallest",
        "soon",
        "submitted",
        "taken",
        "theirs",
        "todo",
        "whose",
    ]
)

#: Superlatives in names of constants that are bounds, which are called ``MAX_…`` and ``MIN_…``.
_SUPERLATIVE = re.compile(r"_?(LONGEST|LARGEST|LEAST|SHORTEST|FEWEST|DEEPEST|BRIEFEST)(_[A-Z_]+)?")

#: Names that other programs see, by file: fields of contracts, columns, values of states.
OUTSIDE_NAMES = {
    "sluice/cli/commands/system/doctor.py": {"found"},
    "sluice/clientkit/transfer/entry_order.py": {"GIVEN"},
    "sluice/contracts/access/audit.py": {"BEGUN", "TOLD", "wrong"},
    "sluice/contracts/access/device_login.py": {"given"},
    "sluice/contracts/chains/intake.py": {"gone"},
    "sluice/contracts/common/states.py": {"ASKED", "GONE"},
    "sluice/contracts/data/assets.py": {"kept"},
    "sluice/contracts/data/datasets.py": {"known"},
    "sluice/contracts/human_tasks/annotation.py": {"asked"},
    "sluice/contracts/human_tasks/supervision.py": {"known"},
    "sluice/contracts/jobs/simulation.py": {"asked"},
    "sluice/contracts/jobs/tasks.py": {"asked"},
    "sluice/contracts/pilots/pilot_detail.py": {"known"},
    "sluice/contracts/pilots/pilot_list.py": {"GONE"},
    "wfms/operator/web/domain/progress_bar.py": {"ASKED"},
    "wms/db/dataflow/grouping_state.py": {"made"},
    "wms/db/dataflow/tree_parts.py": {"made"},
    "wms/domain/task_completion.py": {"asked"},
}

#: Fields and parameters without a noun that other programs see, by file: fields of contracts and
#: scenarios, query parameters, options of commands. The gateway passes other services on.
OUTSIDE_FIELDS = {
    "dms/usecases/datasets/list_datasets.py": {"newest"},
    "sluice/cli/commands/human_tasks/ask.py": {"mine"},
    "sluice/clients/generated/dms.py": {"newest"},
    "sluice/contracts/access/quotas.py": {"most"},
    "sluice/contracts/chains/chains.py": {"taken"},
    "sluice/contracts/chains/intake.py": {"left"},
    "sluice/contracts/data/append_only.py": {"most"},
    "sluice/contracts/data/assets.py": {"newest"},
    "sluice/contracts/human_tasks/supervision.py": {"mine"},
    "sluice/contracts/jobs/gpus.py": {"least", "most"},
    "sluice/contracts/jobs/simulation.py": {"passage", "same"},
    "sluice/contracts/jobs/steps.py": {"oldest"},
    "sluice/contracts/jobs/times.py": {"least", "most", "passage"},
    "sluice/contracts/pilots/leases.py": {"soon"},
    "sluice/contracts/pilots/pilot_detail.py": {"longest"},
    "wfms/operator/context.py": {"others"},
    "wfms/operator/gateway/api/forwarded.py": {"largest", "others"},
    "wms/simulation/scenario.py": {"away"},
}

#: A comment in a configuration file or shell script, from its sign to the end of the line.
COMMENT = re.compile(r"(?:^|(?<=\s))#(?!!)(.*)|^\s*;(.*)", re.MULTILINE)


def list_names(source: Source) -> Iterator[tuple[str, str]]:
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


def list_fields_and_parameters(source: Source) -> Iterator[tuple[str, str]]:
    """Yield each parameter of a function and each field of a class, with its place."""
    for node in source.nodes:
        match node:
            case ast.arg():
                yield node.arg, source.at(node)
            case ast.ClassDef():
                for statement in node.body:
                    match statement:
                        case ast.AnnAssign(target=ast.Name() as target):
                            yield target.id, source.at(target)
            case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Store()):
                yield node.attr, source.at(node)


def split_words(name: str) -> list[str]:
    """Split ``TwoWords`` and ``two_words`` into ``two`` and ``words``."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def find_abolished_names(files: Iterable[Source]) -> list[str]:
    return [
        f"{place}: {name}"
        for source in files
        for name, place in list_names(source)
        if name not in OUTSIDE_NAMES.get(source.name, ()) and is_abolished(name)
    ]


def find_names_without_noun(files: Iterable[Source]) -> list[str]:
    return [
        f"{place}: {name}"
        for source in files
        for name, place in list_fields_and_parameters(source)
        if name.strip("_") in WITHOUT_NOUN and name not in OUTSIDE_FIELDS.get(source.name, ())
    ]


def find_superlative_bounds(files: Iterable[Source]) -> list[str]:
    return [
        f"{place}: {name}"
        for source in files
        for name, place in list_names(source)
        if _SUPERLATIVE.fullmatch(name)
    ]


def is_abolished(name: str) -> bool:
    """Return whether a name has an abolished word, or is a participle without a noun."""
    return not ABOLISHED.isdisjoint(split_words(name)) or name.strip("_").lower() in PARTICIPLES


def list_comment_words(text: str) -> set[str]:
    """Return the words of the comments in a configuration file or shell script."""
    return {word for comment in COMMENT.finditer(text) for word in split_words(comment[0])}


def test_names_use_no_abolished_words() -> None:
    assert find_abolished_names(list_sources(*PRODUCT, "stack")) == []


def test_bounds_are_called_max_and_min() -> None:
    assert find_superlative_bounds(list_sources(*PRODUCT, "stack")) == []


def test_superlative_bounds_are_found() -> None:
    text = "_LEAST = 1\nLONGEST_PAUSE, MAX_PAUSE = 2, 3\nlargest = 4\n"
    assert find_superlative_bounds([Source("dms/bounds.py", ast.parse(text))]) == [
        "dms/bounds.py:1: _LEAST",
        "dms/bounds.py:2: LONGEST_PAUSE",
    ]


def test_fields_and_parameters_have_a_noun() -> None:
    assert find_names_without_noun(list_sources(*PRODUCT, "stack")) == []


def test_fields_and_parameters_without_a_noun_are_found() -> None:
    text = (
        "class Supply:\n    most: int\n    most_pilots: int\n"
        "def fill(longest, *, others=()):\n    largest = max(others)\n"
        "class Pilot:\n    def __init__(self):\n        self._latest = self.left_jobs = 0\n"
    )
    assert find_names_without_noun([Source("dms/supply.py", ast.parse(text))]) == [
        "dms/supply.py:2: most",
        "dms/supply.py:4: longest",
        "dms/supply.py:4: others",
        "dms/supply.py:8: _latest",
    ]


@pytest.mark.parametrize("outside_names", [OUTSIDE_NAMES, OUTSIDE_FIELDS])
def test_listed_outside_names_exist_in_their_files(outside_names: Mapping[str, set[str]]) -> None:
    known_names = {
        source.name: {name for name, _ in list_names(source)}
        for source in list_sources(*PRODUCT, "stack")
    }
    missing = {
        path: wire_names - known_names.get(path, set())
        for path, wire_names in outside_names.items()
    }
    assert {path: left for path, left in missing.items() if left} == {}


def test_comments_of_configuration_files_use_no_abolished_words() -> None:
    found = {
        str(path.relative_to(ROOT)): used
        for path in list_configuration_files()
        if (
            used := (ABOLISHED - {"spelling"})
            & list_comment_words(path.read_text(encoding="utf-8"))
        )
    }
    assert found == {}


def test_abolished_words_are_found_in_comments() -> None:
    text = "# Two walls.\nFOLDER=desk ; echo 'a reception'  # a twin\n; ring\n"
    assert ABOLISHED & list_comment_words(text) == {"walls", "twin", "ring"}


def test_abolished_words_are_found_in_all_names() -> None:
    text = "class NodeWalls: ...\ndef look_for_rivals(told): ...\ndef string_of_rows(): ...\n"
    assert find_abolished_names([Source("dms/sight.py", ast.parse(text))]) == [
        "dms/sight.py: sight",
        "dms/sight.py:1: NodeWalls",
        "dms/sight.py:2: look_for_rivals",
        "dms/sight.py:2: told",
    ]


def test_only_fields_of_a_contract_are_outside_names() -> None:
    text = "class Asked:\n    asked: int = 0\n    def given(self, wanted): ...\n"
    assert find_abolished_names([Source("sluice/contracts/jobs/tasks.py", ast.parse(text))]) == [
        "sluice/contracts/jobs/tasks.py:1: Asked",
        "sluice/contracts/jobs/tasks.py:3: given",
        "sluice/contracts/jobs/tasks.py:3: wanted",
    ]
