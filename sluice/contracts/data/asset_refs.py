"""Names of assets and of their files, in templates, parameters and the catalogue."""

from typing import Annotated, Any
from urllib.parse import unquote

from pydantic import AfterValidator, Field

from sluice.contracts.common.base import Contract
from sluice.contracts.common.plain_paths import stays_inside
from sluice.contracts.common.wording import in_words, name_rule
from sluice.text.visible_text import quoted

#: How ``sluice:bind`` names an asset, and how people read it.
ASSET_SCHEME = "asset:"
#: The metadata key of a data set that holds a version. Its value names the asset. Chains do not
#: pass it on.
MARK = "sluice.asset"
#: The beginning of the names and folders of data sets that hold versions. Only the operator service
#: registers such data sets.
NAME_PREFIX = "asset."

AssetName = Annotated[
    str,
    name_rule("an asset's name", first="A-Za-z0-9", other="A-Za-z0-9_.-", max_length=100),
]


def _is_plain(path: str) -> str:
    """Return a path, or raise an error if it leaves its folder or is too long."""
    if not stays_inside(path) or path.startswith("/") or any(ord(sign) < 32 for sign in path):
        raise in_words(
            f"{quoted(path)} is not a plain path of a file in a folder: no '.' or '..', nothing"
            " empty"
        )
    if len(file_name_of(path)) > 240:
        raise in_words(f"the path {quoted(path)} is too long: 240 characters at most")
    return path


#: The path of a file within its version, such as ``model.pt`` or ``words/cs.txt``.
AssetPath = Annotated[str, AfterValidator(_is_plain)]


def file_name_of(path: str) -> str:
    """Return the file name for a path in the catalogue, whose names have no slash."""
    return path.replace("%", "%25").replace("/", "%2F")


def path_of(name: str) -> str:
    """Return the path of a file from its name in the catalogue."""
    return unquote(name)


class AssetRef(Contract):
    """A reference to an asset by name.

    Attributes:
        version: The version. Defaults to the newest version when a chain is created.
    """

    name: AssetName
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None

    def __str__(self) -> str:
        return ASSET_SCHEME + self.short

    @property
    def short(self) -> str:
        """Return the reference without its scheme, such as ``pero-cz@3``."""
        return self.name if self.version is None else f"{self.name}@{self.version}"

    @classmethod
    def read(cls, text: str) -> "AssetRef":
        """Parse a reference such as ``asset:pero-cz@3``.

        Raises:
            ValidationError: The text is not a valid reference.
        """
        name, at, version = text.removeprefix(ASSET_SCHEME).partition("@")
        fields: dict[str, Any] = {"name": name}
        return cls.model_validate(fields | ({"version": version} if at else {}))


def is_asset(value: object) -> bool:
    """Return whether the value of a parameter is a reference to an asset."""
    return isinstance(value, str) and value.startswith(ASSET_SCHEME)
