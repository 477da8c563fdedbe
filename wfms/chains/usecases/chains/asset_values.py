"""The values of parameters that are assets."""

import asyncio
from collections.abc import Mapping
from typing import Any

from sluice.clients.operator import OperatorClient
from sluice.contracts.chains.chains import NewChain
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import Finding, NotFound
from sluice.contracts.data.asset_refs import AssetRef
from sluice.contracts.data.assets import AssetVersion
from sluice.text.visible_text import quoted
from wfms.chains.domain.assets import asset_value, explain_misfit
from wfms.chains.usecases.chains.refusals import ChainRefused


async def find_asset_values(
    operator: OperatorClient, new: NewChain, assets: Mapping[str, AssetRef]
) -> dict[str, Any]:
    """Find each asset with one request, so that all its parameters get the same version."""
    refs = {ref.short: ref for ref in assets.values()}
    answers = await asyncio.gather(*(_find_version(operator, ref) for ref in refs.values()))
    versions = dict(zip(refs, answers, strict=True))
    values: dict[str, Any] = {}
    problems: list[Finding] = []
    for parameter, ref in assets.items():
        answer = versions[ref.short]
        reason = (
            answer
            if isinstance(answer, str)
            else explain_misfit(answer, new.plan.parameters[parameter].type)
        )
        if reason or isinstance(answer, str):
            problems.append(Finding.about_parameter(parameter, reason, is_sentence=True))
        else:
            values[parameter] = asset_value(answer, new.plan.parameters[parameter].type)
    if problems:
        raise ChainRefused.of(new, problems)
    return values


async def _find_version(operator: OperatorClient, ref: AssetRef) -> AssetVersion | str:
    """Return the version that the reference means, or why there is none."""
    try:
        asset = await operator.get_asset(ref.name)
    except NotFound:
        return (
            f"there is no asset {quoted(ref.name)}; `sluice asset put {ref.name} FILE...` stores"
            " one"
        )
    if ref.version is None:
        if asset.newest is None:
            return (
                f"asset {quoted(ref.name)} has no version left: all of its"
                f" {format_count(len(asset.versions), 'version')} were removed; `sluice asset put"
                f" {ref.name} FILE...` stores one"
            )
        return asset.newest
    version = asset.version(ref.version)
    if version is None:
        numbers = ", ".join(str(each.version) for each in asset.versions)
        return f"asset {quoted(ref.name)} has no version {ref.version}; its versions are {numbers}"
    if version.removed_at is not None:
        return (
            f"version {ref.version} of asset {quoted(ref.name)} was withdrawn on"
            f" {version.removed_at:%F %T}: give another version, or omit the version for the"
            " newest"
        )
    return version
