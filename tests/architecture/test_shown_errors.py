r"""Messages never show errors and values as Python prints them (``[Errno 13]``, ``b'\\xff'``)."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.sources import Source, list_sources

PACKAGES = ("bench", "dms", "pilot", "sluice", "stack", "templates", "wfms", "wms")
#: Exceptions of the operating system, which ``os_error_sentence`` and ``reason_of`` describe.
SYSTEM_ERRORS = frozenset(
    {
        "FileExistsError",
        "FileNotFoundError",
        "LOST_CONNECTION",
        "NotADirectoryError",
        "OSError",
        "PermissionError",
        "httpx.HTTPError",
        "httpx.TransportError",
    }
)
#: Files where a caught ``OSError`` already has a sentence: from ``read_token``, Pillow or Arrow.
OWN_SENTENCES = frozenset(
    {
        "sluice/pilot_access/auth.py",
        "templates/masstimes/masstimes/table/files.py",
        "sluice/packs/images.py",
    }
)
#: The helper itself, and files that use only the standard library. Their fallback is the error.
OWN_REASONS = frozenset(
    {
        "pilot/isolation/sandbox/holder.py",
        "pilot/isolation/sandbox/tool_root.py",
        "sluice/text/os_errors.py",
        "sluice/warm.py",
    }
)
#: Conversions of f-strings, as the syntax tree has them.
_SPELLED = frozenset(map(ord, "ra"))
#: Files with a value that is Python code, part of an id, or an object of a programming error, and
#: the file that rewords pydantic's messages.
SPELLED_FOR_PYTHON = frozenset(
    {
        "pilot/isolation/sandbox/bare_python.py",
        "sluice/contracts/common/wording.py",
        "sluice/servicekit/web/http.py",
        "wfms/ask/usecases/import_items.py",
    }
)
#: Programs that are installed without Sluice and cannot use its functions.
PACKS = "templates/"


def find_shown_system_errors(source: Source) -> Iterator[int]:
    """Yield the lines that show a caught system error: in an f-string, or by ``str``."""
    for handler in source.nodes:
        if not isinstance(handler, ast.ExceptHandler) or handler.name is None:
            continue
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if not SYSTEM_ERRORS.intersection(ast.unparse(kind) for kind in kinds if kind):
            continue
        for node in ast.walk(handler):
            match node:
                case ast.FormattedValue(value=ast.Name(id=handler.name)):
                    yield node.lineno
                case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=handler.name)]):
                    yield node.lineno


def find_unchecked_reasons(source: Source) -> Iterator[int]:
    """Yield the lines that read ``strerror`` of an error, which may be None."""
    for node in source.nodes:
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr="strerror"):
                continue  # a function
            case ast.Attribute(attr="strerror"):
                yield node.lineno


def find_python_spellings(source: Source) -> Iterator[int]:
    """Yield the lines that show a value as Python spells it, or pydantic's own message."""
    for node in source.nodes:
        match node:
            case ast.FormattedValue(conversion=conversion) if conversion in _SPELLED:
                yield node.lineno
            case ast.FormattedValue(value=ast.Call(func=ast.Name(id="repr" | "ascii"))):
                yield node.lineno
            case ast.Subscript(slice=ast.Constant(value="msg")):
                yield node.lineno


def find_quotes_by_hand(source: Source) -> Iterator[int]:
    """Yield the lines with a value other than a constant between apostrophes in an f-string."""
    for node in source.nodes:
        if not isinstance(node, ast.JoinedStr):
            continue
        for before, value, after in zip(
            node.values, node.values[1:], node.values[2:], strict=False
        ):
            match before, value, after:
                case ast.Constant(value=str(left)), ast.FormattedValue(), ast.Constant(
                    value=str(right)
                ):
                    is_constant = ast.unparse(value.value).isupper()
                    if left.endswith("'") and right.startswith("'") and not is_constant:
                        yield value.lineno


def parse(text: str) -> Source:
    return Source("x.py", ast.parse(text))


def test_messages_describe_errors_of_the_operating_system() -> None:
    findings = [
        f"{source.name}:{line}: use sluice.text.os_errors.os_error_sentence or reason_of"
        for source in list_sources(*PACKAGES)
        if source.name not in OWN_SENTENCES
        for line in find_shown_system_errors(source)
    ]
    assert findings == []


@pytest.mark.parametrize("shown", ["f'no: {e}'", "reason=str(e)"])
def test_shown_system_error_is_found(shown: str) -> None:
    code = f"try:\n    f()\nexcept (ValueError, OSError) as e:\n    raise Wrong({shown}) from e\n"
    assert list(find_shown_system_errors(parse(code))) == [4]
    code = code.replace("{e}", "{reason_of(e)}").replace("str", "reason_of")
    assert list(find_shown_system_errors(parse(code))) == []


def test_reasons_of_system_errors_come_from_the_helper() -> None:
    findings = [
        f"{source.name}:{line}: use sluice.text.os_errors.reason_of"
        for source in list_sources(*PACKAGES)
        if source.name not in OWN_REASONS
        for line in find_unchecked_reasons(source)
    ]
    assert findings == []


def test_strerror_of_an_error_is_found() -> None:
    assert list(find_unchecked_reasons(parse('f"no: {error.strerror or error}"'))) == [1]
    assert not list(find_unchecked_reasons(parse("OSError(number, os.strerror(number))")))


def test_messages_quote_values_in_one_style() -> None:
    findings = [
        f"{source.name}:{line}: use sluice.text.visible_text.quoted or"
        " sluice.contracts.common.wording.validation_sentence"
        for source in list_sources(*PACKAGES)
        if source.name not in SPELLED_FOR_PYTHON and not source.name.startswith(PACKS)
        for line in find_python_spellings(source)
    ]
    assert findings == []


@pytest.mark.parametrize("shown", ["{name!r}", "{name!a}", "{repr(name)}", "{error['msg']}"])
def test_value_in_python_syntax_is_found(shown: str) -> None:
    code = f'raise Wrong(f"no: {shown}")'
    assert list(find_python_spellings(parse(code))) == [1]
    assert list(find_python_spellings(parse('raise Wrong(f"no: {quoted(name)}")'))) == []


def test_names_from_documents_are_quoted_by_the_helper() -> None:
    findings = [
        f"{source.name}:{line}: use sluice.text.visible_text.quoted"
        for source in list_sources(*PACKAGES)
        if source.name.startswith(("sluice/cwl/", "sluice/contracts/", "wms/domain/"))
        for line in find_quotes_by_hand(source)
    ]
    assert findings == []


def test_name_quoted_by_hand_is_found() -> None:
    assert list(find_quotes_by_hand(parse("""f"no step '{step.name}'\""""))) == [1]
    assert not list(find_quotes_by_hand(parse("""f"no step {quoted(step.name)}, see '{_KEY}'\"""")))
