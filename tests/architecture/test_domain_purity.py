"""Modules in ``domain/`` have no I/O, no clock and no randomness: times and ids are arguments."""

import ast
import tomllib
from collections.abc import Iterator

from tests.architecture.sources import PRODUCT, ROOT, Source, list_imports, list_sources

#: All that a domain module may import besides the contracts and its own domain.
PURE = {
    "abc", "base64", "binascii", "bisect", "collections", "collections.abc", "dataclasses",
    "datetime", "difflib", "enum", "fnmatch", "fractions", "functools", "graphlib", "hashlib",
    "heapq", "html", "imagesize", "io",
    "itertools", "json", "math", "nh3", "operator", "re", "shlex", "sluice.scheduling.backoff",
    "sluice.scheduling.fit", "sluice.scheduling.stalled_steps", "sluice.text.identifiers",
    "sluice.text.sentences", "sluice.text.visible_text", "statistics", "string", "types", "typing",
    "urllib.parse", "uuid", "wfms.operator.errors",
}  # fmt: skip

#: Modules outside of the folders that several domains use.
PURE_MODULES = (
    "sluice/scheduling/fit.py",
    "sluice/text/identifiers.py",
    "sluice/text/sentences.py",
    "wfms/operator/errors.py",
)

#: Functions that read a clock, do I/O, or return something random.
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


def list_pure_folders() -> list[str]:
    """Return every domain folder and the contracts."""
    folders = {
        path.relative_to(ROOT).as_posix()
        for folder in PRODUCT
        for path in (ROOT / folder).rglob("domain")
        if any(path.glob("*.py"))
    }
    return [*sorted(folders), "sluice/contracts"]


def find_impurities(source: Source) -> Iterator[str]:
    package = source.name.rpartition("/")[0].replace("/", ".")
    for node, module in list_imports(source):
        if (
            module not in PURE
            and not module.startswith(("sluice.contracts", f"{package}.", "pydantic"))
            and module != package
            and not (
                "domain" in module.split(".") and module.split(".")[:2] == package.split(".")[:2]
            )
        ):
            yield f"{source.at(node)}: imports {module}"
    for call in source.nodes:
        if isinstance(call, ast.Call):
            name = (
                call.func.attr
                if isinstance(call.func, ast.Attribute)
                else getattr(call.func, "id", "")
            )
            if name in IMPURE_CALLS:
                yield f"{source.at(call)}: calls {name}()"


def test_domains_and_contracts_have_no_side_effects() -> None:
    for folder in list_pure_folders():
        files = list_sources(folder)
        assert files, folder
        assert not [finding for source in files for finding in find_impurities(source)]
    for module in PURE_MODULES:
        text = (ROOT / module).read_text(encoding="utf-8")
        assert not list(find_impurities(Source(module, ast.parse(text))))


def test_allowed_modules_of_the_product_exist() -> None:
    own = {module for module in PURE if module.partition(".")[0] in PRODUCT}
    allowed = {*PURE_MODULES, *(f"{module.replace('.', '/')}.py" for module in own)}
    assert {name for name in allowed if not (ROOT / name).is_file()} == set()


def test_import_contract_lists_every_domain() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    named = next(each for each in contracts if each["name"] == "Domains are pure")["source_modules"]
    assert len(named) > 6
    pure = [*list_pure_folders(), *(module.removesuffix(".py") for module in PURE_MODULES)]
    assert {name.replace("/", ".") for name in pure} == set(named)


def test_impure_imports_and_calls_are_found() -> None:
    text = (
        "import time\nfrom uuid import uuid4\nfrom dms.db import x\n"
        "def f():\n    return uuid4(), datetime.now()\n"
    )
    findings = list(find_impurities(Source("dms/domain/x.py", ast.parse(text))))
    assert [line.partition(": ")[2] for line in findings] == [
        "imports time",
        "imports dms.db",
        "calls uuid4()",
        "calls now()",
    ]
