"""Compare `sluice template check` with `cwltool --validate` on all CWL documents below a folder.

Each document is checked in a separate process. The exit status is 1 if Sluice refuses more than
0.5 % of what cwltool accepts, or accepts anything that cwltool refuses.
"""

import argparse
import io
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from cwltool.main import main as cwltool

from sluice.cwl.compiler import compile_file

#: The share of the documents that cwltool accepts that must be accepted.
_TARGET = 0.995
#: Seconds for each check of a document.
_LIMIT = 300
_CLASS = re.compile(r"^\s*\"?class\"?\s*:\s*\"?(Workflow|CommandLineTool|ExpressionTool)\b", re.M)
_SCATTER = re.compile(r"^\s*\"?scatter\"?\s*:", re.M)


@dataclass(frozen=True, slots=True)
class Document:
    """A document and the results of the checks.

    Attributes:
        scatters: Whether the text has a scatter.
        is_valid: Whether cwltool accepts it.
        steps: The number of steps of the plan, or 0 if Sluice refuses the document.
        is_whole: Whether it runs inside one job.
        reason: The first error.
    """

    path: Path
    scatters: bool
    is_valid: bool = False
    steps: int = 0
    is_whole: bool = False
    reason: str = ""


def main() -> int:
    """Check all documents, print the differences and the counts, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    context = multiprocessing.get_context("fork")
    with context.Pool(arguments.processes, maxtasksperchild=1) as pool:
        documents = pool.map(_check, _find_documents(folder), chunksize=1)
    return _report(documents, folder)


def _find_documents(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("*.cwl")):
        text = path.read_text(errors="replace")
        if _CLASS.search(text):
            yield Document(path, bool(_SCATTER.search(text)))


def _check(document: Document) -> Document:
    signal.signal(signal.SIGALRM, _raise_timeout)
    os.chdir(document.path.parent)
    document = _check_with_cwltool(document)
    signal.alarm(_LIMIT)
    try:
        compiled, _ = compile_file(Path(document.path.name), name="t")
    except TimeoutError:
        return replace(document, reason=f"Sluice did not end within {_LIMIT} s")
    finally:
        signal.alarm(0)
    if compiled.plan is None:
        return replace(document, reason=str(compiled.errors[0]))
    is_whole = any("the whole workflow runs" in warning.message for warning in compiled.warnings)
    return replace(document, steps=len(compiled.plan.steps), is_whole=is_whole)


def _check_with_cwltool(document: Document) -> Document:
    output = io.StringIO()
    arguments = ["--validate", "--skip-schemas", "--disable-js-validation", document.path.name]
    signal.alarm(_LIMIT)
    try:
        with redirect_stdout(output), redirect_stderr(output):
            status = cwltool(arguments, stdout=output, stderr=output)
    except TimeoutError:
        return replace(document, reason=f"cwltool did not end within {_LIMIT} s")
    except Exception as error:  # cwltool's own faults
        return replace(document, reason=f"cwltool: {type(error).__name__}: {error}")
    finally:
        signal.alarm(0)
    lines = [line for line in output.getvalue().splitlines() if "ERROR" in line]
    return replace(document, is_valid=status == 0, reason=lines[-1] if lines else "")


def _raise_timeout(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def _report(documents: Sequence[Document], folder: Path) -> int:
    valid = [document for document in documents if document.is_valid]
    accepted = [document for document in valid if document.steps]
    wrongly_accepted = [
        document for document in documents if document.steps and not document.is_valid
    ]
    scattered = [document for document in accepted if document.scatters]
    spread = [document for document in scattered if not document.is_whole and document.steps > 1]
    for title, group in (
        ("refused by Sluice alone", [document for document in valid if not document.steps]),
        ("refused by cwltool alone", wrongly_accepted),
    ):
        for document in group:
            print(f"{title}: {document.path.relative_to(folder)}: {document.reason}")
    share = len(accepted) / len(valid) if valid else 0.0
    print(f"documents                          {len(documents):6}")
    print(f"accepted by cwltool                {len(valid):6}")
    print(f"accepted by Sluice, of these       {len(accepted):6}  {share:.1%}")
    print(f"accepted by Sluice, of the others  {len(wrongly_accepted):6}")
    print(f"accepted with a scatter            {len(scattered):6}")
    print(f"spread over jobs, of these         {len(spread):6}")
    return 0 if share >= _TARGET and not wrongly_accepted else 1


if __name__ == "__main__":
    sys.exit(main())
