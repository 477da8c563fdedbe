"""Comments, docstrings, messages and pages use no phrases that plain English has a word for."""

import re
from collections.abc import Iterator

from scripts.generate_docs import makers
from tests.architecture.sources import PRODUCT, ROOT, is_test, list_configuration_files

#: The phrases, and the words to write instead.
REFUSED = {
    r"\bso (?:many|much|few|long)\b(?! (?:as|that)\b)": "this number, this amount, this time",
    r"\b(?:lie|lies|lay|lying)\b(?![ -]out\b)": "is in, is at, is on",
    r"\bof (?:its|their) own\b": "its own, separate",
    r"\bfor good\b": "permanently",
    r"\bnow and then\b": "occasionally",
    r"\banew\b": "again",
    r"\bwhoever\b": "the user who, the caller",
    r"\bstands? in\b": "is in, replaces",
    r"\bwhat of\b": "the part of",
    r"\bof which each\b": "each of these",
    r"(?-i:\b(?:By|With|Of|For|From|In) which\b)": "a sentence with a subject",
    r"\bit takes the role\b": "this needs the role",
    r"\bis another one\b(?!['’])": "differs, has changed",
    r"\bat (?:[\w'’]+ ){1,4}disposal\b": "available",
    r"\bthe same again and again\b": "repeatedly",
    r"\bevery so often\b": "periodically",
}
PHRASE = re.compile("|".join(REFUSED), re.IGNORECASE)
#: A comment that begins without a subject, as in "What pilots ask, and nothing else".
HEADLESS_COMMENT = re.compile(
    r"^[ \t]*(?:#:?|;|--|//)[ \t]*((?:What|Whose|Of) [^\n]*)", re.MULTILINE
)
FOLDERS = (*PRODUCT, "stack", "templates", "docs", "scripts")
SUFFIXES = frozenset([".py", ".md", ".html", ".js", ".css", ".sql", ".cwl"])
#: The end of a line of a text or comment, and the beginning of the next one.
LINE_BREAK = re.compile(r"[\"']?[ \t]*\n[ \t]*(?:f?[\"']|#:|#|;|--|//|\*|>)?[ \t]*")

#: Places where a phrase is right, or a name. The glossary lists the phrases.
ALLOWED = frozenset(
    [
        "dms/db/storages.py: lying",
        "docs/adr/0020-pause-tasks-while-their-storage-is-full.md: lie",
        "docs/glossary.md: anew",
        "docs/glossary.md: at its disposal",
        "docs/glossary.md: every so often",
        "docs/glossary.md: for good",
        "docs/glossary.md: is another one",
        "docs/glossary.md: it takes the role",
        "docs/glossary.md: lies",
        "docs/glossary.md: now and then",
        "docs/glossary.md: of its own",
        "docs/glossary.md: of which each",
        "docs/glossary.md: of their own",
        "docs/glossary.md: so few",
        "docs/glossary.md: so long",
        "docs/glossary.md: so many",
        "docs/glossary.md: so much",
        "docs/glossary.md: stands in",
        "docs/glossary.md: the same again and again",
        "docs/glossary.md: what of",
        "docs/glossary.md: whoever",
        "sluice/cli/commands/human_tasks/ask.py: whoever",
        "sluice/cli/commands/jobs/step.py: of its own",
        "templates/collage/collage/demo.py: lie",
        "wfms/ask/api/page/texts_en.js: of its own",
        "wfms/operator/web/pages/html/human_task.html: whoever",
    ]
)


def find_phrases(text: str) -> Iterator[str]:
    """Yield the refused phrases of a text, also of those that a line break divides."""
    yield from (found[0].lower() for found in PHRASE.finditer(LINE_BREAK.sub(" ", text)))


def list_texts() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file that a person writes, except the tests."""
    generated = set(makers())
    files = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))
    for path in (ROOT / "README.md", *files):
        relative = path.relative_to(ROOT)
        if path.suffix in SUFFIXES and relative not in generated and not is_test(path):
            yield str(relative), path.read_text(encoding="utf-8")
    for path in list_configuration_files():
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def test_texts_use_no_refused_phrases() -> None:
    found = {f"{path}: {phrase}" for path, text in list_texts() for phrase in find_phrases(text)}
    assert found - ALLOWED == set()


def test_comments_begin_with_a_subject() -> None:
    found = {
        f"{path}: {comment}"
        for path, text in list_texts()
        if not path.endswith((".md", ".sql"))
        for comment in HEADLESS_COMMENT.findall(text)
    }
    assert found == set()


def test_refused_phrases_are_found_across_line_breaks() -> None:
    text = '#: Wait so\n#: long.\n"It has a folder of"\n" its own."\n-- Whoever asks, so long as\n'
    assert list(find_phrases(text)) == ["so long", "of its own", "whoever"]


def test_configuration_files_are_checked() -> None:
    files = {str(path.relative_to(ROOT)) for path in list_configuration_files()}
    assert files >= {
        ".pre-commit-config.yaml",
        "Makefile",
        "deploy/Dockerfile",
        "deploy/environment/services.env",
        "deploy/gateway/nginx.conf",
        "docker-compose.yml",
        "pyproject.toml",
        "scripts/install.sh",
        "templates/ocr/config/layout/config.ini",
    }


def test_phrases_and_headless_comments_are_found_in_configuration_files() -> None:
    text = (
        "# What all services share. What one of them alone needs stands in its part.\n"
        "SLUICE_HOST=0.0.0.0\n  # By which services prove who they are.\n"
        "; Of the machine's ports, none leads out.\n"
    )
    assert list(find_phrases(text)) == ["stands in", "by which"]
    assert [comment.split()[0] for comment in HEADLESS_COMMENT.findall(text)] == ["What", "Of"]
