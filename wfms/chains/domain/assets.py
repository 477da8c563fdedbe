"""The versions of assets that a chain uses, and the parameter values that stand for them."""

from collections.abc import Mapping
from typing import Any

from sluice.contracts.chains.chains import FileValue
from sluice.contracts.data.asset_refs import AssetRef
from sluice.contracts.data.assets import AssetVersion
from sluice.contracts.templates.plan import Plan


def list_bound_assets(plan: Plan, params: Mapping[str, Any]) -> dict[str, AssetRef]:
    """Return the assets that the plan binds, by parameter, where no other value was given."""
    return {name: ref for name, ref in plan.assets.items() if params.get(name) is None}


def explain_misfit(version: AssetVersion, kind: Any) -> str:
    """Return why a parameter of CWL type ``kind`` cannot take the version; empty if it can."""
    if kind == "File" and len(version.files) != 1:
        listed = ", ".join(file.path for file in version.files[:5])
        more = ", …" if len(version.files) > 5 else ""
        return (
            f"it takes one file, and {version.ref} has {len(version.files)} ({listed}{more}): a"
            " parameter of type Directory or File[] takes them all"
        )
    nested = next((file.path for file in version.files if "/" in file.path), None)
    if kind not in ("File", "Directory") and nested is not None:
        return (
            f"it takes a list of files, and {version.ref} has some in folders ({nested}): a"
            " parameter of type Directory takes them as they are"
        )
    return ""


def asset_value(version: AssetVersion, kind: Any) -> dict[str, Any]:
    """Return the parameter value that stands for the version."""
    value = FileValue(
        kind="Directory" if kind == "Directory" else "File",
        dataset=version.dataset_uid,
        asset=version.ref.short,
    )
    return value.model_dump(mode="json")
