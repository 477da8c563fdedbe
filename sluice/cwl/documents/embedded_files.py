"""Files and directories that a template names, embedded in its document as literals."""

from collections.abc import Callable
from dataclasses import dataclass

from ruamel.yaml.comments import CommentedMap

from sluice.contracts.templates.secondary_files import read_patterns
from sluice.cwl.documents.file_literals import (
    make_directory_literal,
    make_file_literal,
    name_secondary_file,
    naming_field,
)
from sluice.cwl.reading.files import MAX_LITERAL, FileRefused, FileSet
from sluice.cwl.reading.findings import TextPlace, text_place
from sluice.cwl.reading.nodes import node_at, put_at


@dataclass(frozen=True, slots=True)
class FileEmbedder:
    """Embeds files of a template.

    Attributes:
        files: The files.
        has_space: Returns whether a text at a place is within the limit of the template.
    """

    files: FileSet
    has_space: Callable[[str, TextPlace], bool]

    def embed(self, node: CommentedMap, base: str) -> bool:
        """Turn an object that names a file or directory of the template into a literal.

        The object stays as it is if a file is missing, too large, or no text.

        Args:
            node: The object.
            base: The file that contains it.

        Returns:
            Whether it is a literal now.
        """
        key = naming_field(node)
        if key is None:
            return False
        texts = self._read_texts(node, key, base)
        if texts is None or not self.has_space("".join(texts.values()), text_place(node, key)):
            return False
        if node["class"] == "File":
            make_file_literal(node, key, texts[""])
        else:
            make_directory_literal(node, key, texts)
        return True

    def _read_texts(self, node: CommentedMap, key: str, base: str) -> dict[str, str] | None:
        """Return the text of a file as "", or those of a directory by path; None without them."""
        try:
            if node["class"] == "File":
                paths = {"": self.files.find(base, node[key])}
            else:
                paths = self.files.list_folder(base, node[key])
            texts = {path: self.files.text(file) for path, file in paths.items()}
        except FileRefused:
            return None
        is_small = sum(len(text.encode()) for text in texts.values()) <= MAX_LITERAL
        return texts if texts and is_small else None

    def embed_secondary_files(self, port: CommentedMap, base: str) -> None:
        """Add the secondary files that patterns of a port find beside its default file.

        Args:
            port: The port.
            base: The file that contains it.
        """
        default = port.get("default")
        if not isinstance(default, CommentedMap) or default.get("class") != "File":
            return
        key = naming_field(default)
        if key is None or "secondaryFiles" in default:
            return
        place, patterns = text_place(default, key), read_patterns(port.get("secondaryFiles"))
        others = [name_secondary_file(default, key, each.pattern) for each in patterns if each]
        literals = [other for other in others if self.embed(other, base)]
        if literals:
            put_at(default, "secondaryFiles", node_at(place, literals), place)
