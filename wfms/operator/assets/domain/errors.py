"""Errors of assets."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.common.problems import (
    Conflict,
    Finding,
    NotAvailable,
    NotFound,
)
from sluice.text.visible_text import quoted
from wfms.operator.errors import MAX_NAMED


class AssetUnknown(NotFound):
    """The asset, or the version if one is given, does not exist or was removed (``is_removed``)."""

    def __init__(self, name: str, version: int | None = None, *, is_removed: bool = False) -> None:
        subject = (
            f"asset {quoted(name)}"
            if version is None
            else f"version {version} of asset {quoted(name)}"
        )
        reason = f"{subject} is already withdrawn" if is_removed else f"there is no {subject}"
        command = "list" if version is None and not is_removed else f"show {name}"
        super().__init__(f"{reason} (`sluice asset {command}` lists them)", name=name)


class AssetDraftUnknown(NotFound):
    """The draft of an asset version, or the file in it, does not exist."""

    def __init__(self, name: str, draft: UUID) -> None:
        super().__init__(
            f"asset {quoted(name)} has no upload with the id {draft} and this file: start again",
            name=name,
        )


class AssetFilesMissing(Conflict):
    """The draft of an asset version is not complete."""

    def __init__(self, name: str, paths: Sequence[str]) -> None:
        super().__init__(
            f"{len(paths)} files of the version of asset {quoted(name)} have not been sent:"
            f" {', '.join(paths[:MAX_NAMED])}",
            findings=[Finding(message=f"{path} is missing") for path in paths[:MAX_NAMED]],
            name=name,
        )


class AssetFilesDiffer(Conflict):
    """The data set of the draft has other files than those that were announced."""

    def __init__(self, name: str, differences: Sequence[str]) -> None:
        named = differences[:MAX_NAMED]
        super().__init__(
            f"the version of asset {quoted(name)} is refused, because {len(differences)} of its"
            f" stored files differ from the announced files: {'; '.join(named)}. Put the asset"
            " again",
            findings=[Finding(message=difference) for difference in named],
            name=name,
        )


class ConcurrentAssetChange(Conflict):
    """Another request changes the same asset at this moment."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"a version of asset {quoted(name)} with these files is being withdrawn: store it"
            " again",
            name=name,
        )


class NoStorageForAssets(NotAvailable):
    """No storage accepts assets; ``configured_storage`` is the configured one, or empty for any."""

    def __init__(self, configured_storage: str) -> None:
        super().__init__(
            f"input storage {quoted(configured_storage)}, which"
            " SLUICE_OPERATOR_ASSET_STORAGE names, accepts no data"
            if configured_storage
            else (
                "there is no input storage for assets that accepts data: register one with `sluice"
                " storage add`"
            )
        )


class NoSpaceForAsset(NotAvailable):
    """No input storage has enough free space."""

    def __init__(self, size: int, storages: Sequence[str]) -> None:
        super().__init__(
            f"no input storage has space for {size} bytes: {', '.join(storages)}", size=size
        )
