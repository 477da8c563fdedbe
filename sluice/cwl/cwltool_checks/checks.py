"""The checks of the reference implementation: schema, links and types."""

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.cwltool_checks.cwltool_library import load_cwltool, quiet
from sluice.cwl.cwltool_checks.document_parts import parts
from sluice.cwl.cwltool_checks.messages import report_error, report_text
from sluice.cwl.documents.versions import VERSIONS
from sluice.cwl.properties.requirements import remove_unknown_hints
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings, text_place
from sluice.cwl.reading.nodes import clone, processes_inside, put_at


def check_with_cwltool(template: ParsedTemplate, findings: Findings) -> None:
    """Check a template with cwltool, by the rules of the newest CWL version in it.

    The schema check always runs, so that all errors appear together. cwltool loads the workflow
    only if there is no other error.
    """
    if template.document.is_incomplete or findings.full:
        return
    workflow, namespaces = clone(template.unflattened_document), template.document.namespaces
    remove_unknown_hints(workflow, namespaces)
    versions = [template.document.version]
    for step, process in processes_inside(workflow):
        remove_unknown_hints(step, namespaces)
        remove_unknown_hints(process, namespaces)
        if process.get("cwlVersion") in VERSIONS:
            versions.append(process.pop("cwlVersion"))
    newest_cwl_version = max(versions, key=VERSIONS.index)
    put_at(workflow, "cwlVersion", newest_cwl_version, text_place(workflow, "cwlVersion"))
    _check_schema(workflow, findings)
    if not findings.failed:
        _load_as_cwltool(workflow, findings)


def _check_schema(workflow: CommentedMap, findings: Findings) -> None:
    """Check fields, values and names against the schema of the document's CWL version."""
    with quiet():
        _check_all_parts(clone(workflow), findings)


def _load_as_cwltool(workflow: CommentedMap, findings: Findings) -> None:
    """Load the workflow as cwltool does before a run, and report what cwltool refuses."""
    from schema_salad.exceptions import SchemaSaladException  # noqa: PLC0415

    cwltool = load_cwltool()
    with quiet():
        try:
            cwltool.load(clone(workflow))
        except SchemaSaladException as error:
            report_error(error, findings)
        # The loader can raise any exception on a malformed document.
        except Exception as error:
            cause: BaseException = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            report_text(_describe_exception(cause), findings)


def _describe_exception(cause: BaseException) -> str:
    """Return the text of an exception, and say so if it is a fault of the loader."""
    message = str(cause) or type(cause).__name__
    if isinstance(cause, LookupError | TypeError | AttributeError | AssertionError):
        return f"cwltool cannot load this document: {type(cause).__name__}: {message}"
    return message


def _check_all_parts(workflow: CommentedMap, findings: Findings) -> None:
    from schema_salad.exceptions import SchemaSaladException  # noqa: PLC0415

    cwltool = load_cwltool()
    try:
        resolved = cwltool.resolve(workflow)
        try:
            cwltool.validate(resolved)
        except SchemaSaladException:
            for part in parts(resolved.document):
                if findings.full:
                    return
                try:
                    cwltool.validate(resolved, part)
                except SchemaSaladException as error:
                    report_error(error, findings)
        try:
            cwltool.check_names(resolved)
        except SchemaSaladException as error:
            report_error(error, findings)
    except SchemaSaladException as error:
        report_error(error, findings)
    except Exception as error:  # see _load_as_cwltool
        if not findings.failed:
            report_text(
                f"not CWL: {error}; a value has another type than expected",
                findings,
            )
