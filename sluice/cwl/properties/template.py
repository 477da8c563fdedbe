"""A template that has been read: its document, workflow and extension fields."""

from dataclasses import dataclass

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.documents.canonical import CanonicalWorkflow
from sluice.cwl.documents.document import Document
from sluice.cwl.properties.extension_reader import Extensions


@dataclass(frozen=True, slots=True)
class ParsedTemplate:
    """A template.

    Attributes:
        document: The document as written.
        canonical: The workflow that becomes the plan, or a tool.
        unflattened_document: The workflow for the reference runner, with nested workflows.
        extensions: The extension fields.
    """

    document: Document
    canonical: CanonicalWorkflow
    unflattened_document: CommentedMap
    extensions: Extensions

    @property
    def is_workflow(self) -> bool:
        """Return whether the process is a workflow, and not a tool."""
        return bool(self.unflattened_document.get("class") == "Workflow")
