"""A file below ``usecases`` has one use case, or what several use cases share.

A use case is an async function in a file of its name. Files with other names have shared functions,
which only use cases call.
"""

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from tests.architecture.sources import SERVICES, Source, list_sources


def is_use_case_file(source: Source) -> bool:
    return "usecases" in PurePosixPath(source.name).parts


def module_name(source: Source) -> str:
    return source.name.removesuffix(".py").replace("/", ".")


def public_async_functions(source: Source) -> list[str]:
    return [
        node.name
        for node in source.tree.body
        if isinstance(node, ast.AsyncFunctionDef) and not node.name.startswith("_")
    ]


def further_use_cases(source: Source) -> list[str]:
    """Return the other public async functions of a file that has the name of one."""
    names = public_async_functions(source)
    stem = PurePosixPath(source.name).stem
    return [name for name in names if name != stem] if stem in names else []


def misplaced_use_cases(caller: Source, use_case_files: dict[str, Source]) -> Iterator[str]:
    """Yield the async functions of files with other names that ``caller`` imports."""
    for node in caller.nodes:
        if isinstance(node, ast.ImportFrom) and node.module in use_case_files:
            stem = node.module.rpartition(".")[2]
            names = public_async_functions(use_case_files[node.module])
            yield from (
                f"{caller.at(node)}: {alias.name} is not in a file of its name"
                for alias in node.names
                if alias.name in names and alias.name != stem
            )


def test_file_named_after_a_use_case_has_no_second_one() -> None:
    files = [source for source in list_sources(*SERVICES) if is_use_case_file(source)]
    assert len(files) > 100, "the use cases were not found"
    assert {file.name: more for file in files if (more := further_use_cases(file))} == {}


def test_routes_consumers_and_loops_call_use_cases_in_files_of_their_names() -> None:
    files = {module_name(one): one for one in list_sources(*SERVICES) if is_use_case_file(one)}
    callers = [source for source in list_sources(*SERVICES) if not is_use_case_file(source)]
    assert [line for caller in callers for line in misplaced_use_cases(caller, files)] == []


def test_second_use_case_of_a_file_is_found() -> None:
    text = "async def stop(c): ...\nasync def _wait(c): ...\nasync def start(c): ...\n"
    assert further_use_cases(Source("wms/usecases/stop.py", ast.parse(text))) == ["start"]
    shared = Source("wms/usecases/pilots.py", ast.parse(text))
    assert further_use_cases(shared) == []
    caller = Source("wms/loops.py", ast.parse("from wms.usecases.pilots import start, Rules\n"))
    assert list(misplaced_use_cases(caller, {"wms.usecases.pilots": shared})) == [
        "wms/loops.py:1: start is not in a file of its name"
    ]
