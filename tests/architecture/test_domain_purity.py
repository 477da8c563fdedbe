"""``domain/`` is pure: no I/O, no clock, no randomness. Times and ids are arguments."""

import ast
from collections.abc import Iterator

from tests.architecture.sources import SERVICES, Source, imports, sources

#: All that a domain module may import, besides the contracts and its own domain.
PURE = {
    "abc", "bisect", "collections", "collections.abc", "dataclasses", "datetime", "difflib", "enum", "fnmatch", "fractions",
    "functools", "graphlib", "hashlib", "heapq", "itertools", "json", "math", "operator", "re", "shlex", "sluice.backoff",
    "statistics", "string", "types", "typing", "urllib.parse", "uuid",
}  # fmt: skip

#: Reads a clock, or makes something random.
IMPURE_CALLS = {
    "now",
    "utcnow",
    "today",
    "uuid1",
    "uuid4",
    "random",
    "choice",
    "shuffle",
    "open",
    "input",
    "print",
    "getenv",
}


def domain_files() -> list[Source]:
    return [
        source
        for source in sources(*(f"{service}/domain" for service in (*SERVICES, "pilot")))
        + sources("sluice/contracts")
    ]


def impurities(source: Source) -> Iterator[str]:
    package = source.name.rpartition("/")[0].replace("/", ".")
    for node, module in imports(source.tree):
        if (
            module not in PURE
            and not module.startswith(("sluice.contracts", f"{package}.", "pydantic"))
            and module != package
        ):
            yield f"{source.at(node)}: imports {module}"
    for call in ast.walk(source.tree):
        if isinstance(call, ast.Call):
            name = (
                call.func.attr
                if isinstance(call.func, ast.Attribute)
                else getattr(call.func, "id", "")
            )
            if name in IMPURE_CALLS:
                yield f"{source.at(call)}: calls {name}()"


def test_domains_and_contracts_are_pure() -> None:
    files = domain_files()
    assert len(files) > 20, "the domains were not found"
    assert not [finding for source in files for finding in impurities(source)]


def test_impurities_are_found() -> None:
    text = "import time\nfrom uuid import uuid4\nfrom dms.db import x\ndef f():\n    return uuid4(), datetime.now()\n"
    found = list(impurities(Source("dms/domain/x.py", ast.parse(text))))
    assert [line.partition(": ")[2] for line in found] == [
        "imports time",
        "imports dms.db",
        "calls uuid4()",
        "calls now()",
    ]
