"""The commands `sluice asset …`."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from sluice.cli.commands.data.asset_check import read_check, require_accepted
from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.options import GroupOption
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, out, print_json, print_table
from sluice.clientkit.transfer.assets import collect_files, put_asset
from sluice.clientkit.transfer.download import fetch_files
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.numbers import format_count, size_text
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.data.asset_refs import AssetRef, path_of
from sluice.contracts.data.assets import Asset, AssetCheck, AssetUse, AssetUses, AssetVersion
from sluice.contracts.data.datasets import File
from sluice.text.visible_text import quoted

app = typer.Typer(
    no_args_is_help=True,
    help="Models and configurations of tools: files with a name, in versions.",
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the asset.")]
VersionArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME[@VERSION]", help="The name of the asset, or one version of it, as in model@3."
    ),
]


@app.command("put")
@with_system
def put(
    system: System,
    name: NameArgument,
    paths: Annotated[
        list[Path],
        typer.Argument(help="Files, and folders with all their files.", metavar="PATH"),
    ],
    *,
    note: Annotated[str, typer.Option(help="A note for readers of the history.")] = "",
    check: Annotated[
        Path | None,
        typer.Option(
            help="CWL file of a tool that takes the asset and fails if it is wrong. Then"
            " nothing is stored. The tool is stored with the asset, and checks each"
            " further version.",
            metavar="TOOL.cwl",
        ),
    ] = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Store the files without a check by the stored tool.")
    ] = False,
    group: GroupOption = None,
) -> None:
    """Store files as the next version of an asset, which new chains get.

    If a version has the same files, no new one is stored. After an interruption, the same command
    continues.
    """
    files = plain_errors(lambda: collect_files(paths))
    new = None if check is None else plain_errors(partial(read_check, check))
    asset_check = new or (None if no_check else system.ask(partial(_find_stored_check, name=name)))
    if asset_check is not None:
        plain_errors(partial(require_accepted, system, asset_check, files))
    stored = system.ask(lambda c: put_asset(c, name, files, note=note, check=new, group=group))
    version = stored.version
    message = f"{version.name}, version {version.version}"
    if not stored.new:
        since = local_time(version.created_at)
        message += f": it has just these files since {since}, and nothing was stored"
    size = f"{format_count(len(version.files), 'file')}, {size_text(version.size)}"
    system.answer(stored, f"{message} ({size})")
    if stored.newest != version.version:
        err.print(
            f"note: new chains get version {stored.newest}; `sluice asset remove"
            f" {name}@{stored.newest}` withdraws it"
        )


async def _find_stored_check(connection: Connection, *, name: str) -> AssetCheck | None:
    """Return the check that was stored with the newest version."""
    try:
        newest_version = (await connection.operator.get_asset(name)).newest
    except NotFound:
        return None
    return None if newest_version is None else newest_version.check


@app.command("list")
@with_system
def list_assets(system: System) -> None:
    """List assets, with the version that new chains get."""
    assets = system.ask(lambda c: c.operator.list_assets()).assets
    if system.as_json:
        print_json(assets)
        return
    print_table(
        ["asset", "newest", "files", "size", "put", "versions"],
        [_row(asset) for asset in assets],
        empty="no asset",
    )


@app.command("show")
@with_system
def show(system: System, asset: VersionArgument) -> None:
    """Show the history of an asset, and the chains that got each version.

    With a version, show only this version, and its files.
    """
    ref = _parse_ref(asset)

    async def read(connection: Connection) -> AssetUses:
        uses = await connection.operator.list_asset_uses(ref.name)
        if ref.version is None:
            return uses
        matching_uses = [use for use in uses.versions if use.version.version == ref.version]
        if not matching_uses:
            raise NotFound(f"asset {quoted(ref.name)} has no version {ref.version}")
        return AssetUses(name=uses.name, versions=matching_uses)

    uses = system.ask(read)
    if system.as_json:
        print_json(uses)
        return
    print_table(
        ["version", "put", "state", "files", "size", "note", "chains"],
        [_use_row(use) for use in uses.versions],
        empty="no version",
    )
    if ref.version is not None:
        print_table(
            ["file", "size", "sha256"],
            [
                (file.path, size_text(file.size), file.checksum.removeprefix("sha256:"))
                for use in uses.versions
                for file in use.version.files
            ],
            empty="no file",
        )
    for use in uses.versions:
        for chain in use.chains:
            out.print(f"version {use.version.version}: {chain_text(chain)}")
        if use.more:
            out.print(f"version {use.version.version}: and chains before these")


@app.command("get")
@with_system
def get(
    system: System,
    asset: VersionArgument,
    *,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path(
        "out"
    ),
) -> None:
    """Copy the files of a version into a folder, and verify their checksums.

    The default is the newest version. Existing files are replaced.
    """
    ref = _parse_ref(asset)

    async def fetch(connection: Connection) -> list[Path]:
        version = _get_version(await connection.operator.get_asset(ref.name), ref)
        targets: list[tuple[File, Path]] = [
            (file, folder / path_of(file.name))
            async for file in connection.operator.iterate_files(version.dataset_uid)
        ]
        await fetch_files(connection, targets)
        return [path for _, path in targets]

    paths = system.ask(fetch)
    if system.as_json:
        print_json({"files": [str(path) for path in paths]})
    else:
        for path in paths:
            out.print(str(path))


@app.command("remove")
@with_system
@with_confirmation
def remove(system: System, confirmation: Confirmation, asset: VersionArgument) -> None:
    """Withdraw a version of an asset, or all of them, so that no new chain gets it.

    Its files are deleted when no chain needs them.
    """
    ref = _parse_ref(asset)
    versions = "all versions" if ref.version is None else f"version {ref.version}"
    current_asset = system.ask(lambda c: c.operator.get_asset(ref.name))
    plain_errors(lambda: _require_version(current_asset, ref))
    confirmation.require(
        f"withdraw {versions} of asset {ref.name}: the files are deleted when no chain needs them"
    )
    removed = system.ask(lambda c: c.operator.remove_asset(ref.name, version=ref.version))
    numbers = ", ".join(str(each.version) for each in removed.removed)
    system.answer(removed, f"{ref.name}, version {numbers}: no new chain gets it")
    for use in () if system.as_json else removed.kept:
        if not use.chains:
            out.print(f"version {use.version.version}: its files are deleted later")
        for chain in use.chains:
            out.print(
                f"version {use.version.version} stays as long as chain {chain.uid} runs"
                f" ({chain.dataset_name} through {chain.template})"
            )


def _require_version(asset: Asset, ref: AssetRef) -> None:
    """Check that an asset has something left to withdraw.

    Raises:
        NotFound: It has no version left, or not this one.
    """
    available = {each.version for each in asset.versions if each.removed_at is None}
    if not available or ref.version not in {None, *available}:
        which = "version" if ref.version is None else f"version {ref.version}"
        raise NotFound(
            f"asset {quoted(ref.name)} has no {which} to withdraw: see `sluice asset show"
            f" {ref.name}`"
        )


def _parse_ref(text: str) -> AssetRef:
    """Return the asset and the version that a text names, or end the command."""

    def read() -> AssetRef:
        try:
            return AssetRef.read(text)
        except ValidationError as error:
            why = validation_sentence(error.errors()[0])
            raise Unprocessable(
                f"{quoted(text)} names no asset, as NAME or NAME@VERSION do: {why}"
            ) from None

    return plain_errors(read)


def _get_version(asset: Asset, ref: AssetRef) -> AssetVersion:
    """Return the version that a reference means.

    Raises:
        NotFound: There is no such version, or its files were deleted.
    """
    version = asset.newest if ref.version is None else asset.version(ref.version)
    if version is None:
        raise NotFound(
            f"asset {quoted(asset.name)} has no version {ref.version or 'that is given'}"
        )
    if version.deleted_at is not None:
        raise NotFound(
            f"the files of {version.ref} were deleted on {local_time(version.deleted_at)}"
        )
    return version


def _row(asset: Asset) -> tuple[object, ...]:
    newest_version = asset.newest
    if newest_version is None:
        return asset.name, "taken back", "", "", "", len(asset.versions)
    return (
        asset.name,
        newest_version.version,
        len(newest_version.files),
        size_text(newest_version.size),
        local_time(newest_version.created_at),
        len(asset.versions),
    )


def _use_row(use: AssetUse) -> tuple[object, ...]:
    version = use.version
    chains = f"{len(use.chains)}{' and more' if use.more else ''}"
    return (
        version.version,
        local_time(version.created_at),
        describe_version_state(version),
        len(version.files),
        size_text(version.size),
        version.note,
        chains,
    )


def chain_text(chain: Chain) -> str:
    """Return a line on a chain that got an asset, with its state and the reason."""
    reason = f": {chain.reason}" if chain.reason else ""
    return (
        f"chain {chain.uid}, {chain.dataset_name} through {chain.template}, {chain.outcome}{reason}"
    )


def describe_version_state(version: AssetVersion) -> str:
    """Return the state of a version in words."""
    if version.deleted_at is not None:
        return "deleted"
    return "given" if version.removed_at is None else "taken back"
