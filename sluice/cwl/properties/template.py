"""A template that has been read: its document, and what its author asks for."""

from dataclasses import dataclass

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.documents.canonical import CanonicalWorkflow
from sluice.cwl.documents.document import Document
from sluice.cwl.properties.extension_reader import Extensions


@dataclass(frozen=True, slots=True)
class ParsedTemplate:
    """``canonical``: the workflow that becomes the plan. ``written``: as the reference runner is to
    see it, with nested workflows where they stand in the text."""

    document: Document
    canonical: CanonicalWorkflow
    written: CommentedMap
    extensions: Extensions
