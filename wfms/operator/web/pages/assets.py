"""``/assets``: models and configurations, their versions, and the chains that use them."""

import hashlib

from flask import Response, flash, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import Finding, ServiceError, Unprocessable
from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.data.assets import NewAsset, NewAssetFile, StoredAsset
from wfms.operator.assets.api.assets import require_name
from wfms.operator.assets.usecases.begin_asset import begin_asset
from wfms.operator.assets.usecases.complete_asset import complete_asset
from wfms.operator.assets.usecases.complete_file import complete_file
from wfms.operator.assets.usecases.list_asset_uses import list_asset_uses
from wfms.operator.assets.usecases.list_assets import list_assets
from wfms.operator.assets.usecases.receive_piece import receive_piece
from wfms.operator.assets.usecases.remove_asset import remove_asset
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes


class AssetPages:
    """The pages of assets."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._database = context.database
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get("/assets", "assets", self.list, Role.VIEWER, link=Link(LinkGroup.DATA, "Assets"))
        pages.post("/assets", "put_asset", self.put, Role.SUBMITTER, below="assets")
        pages.get("/assets/<name>", "asset", self.show, Role.VIEWER, below="assets")
        pages.post("/assets/<name>/remove", "remove_asset", self.remove, Role.SHIFT)

    def list(self) -> str:
        """Show the list of assets."""
        return self._render_page()

    def _render_page(self, refusal: ServiceError | None = None) -> str:
        """Render the list, with the reason if a form was refused."""
        assets = self._bridge.run(list_assets(self._database))
        name = request.form.get("name", request.args.get("name", ""))
        return render_template("assets.html", assets=assets, refusal=refusal, name=name)

    def put(self) -> AnyResponse:
        """Store the files of the form as a version.

        This is for small files. A script sends larger ones in pieces to the REST interface.
        """
        try:
            name = require_name(request.form.get("name", "").strip())
            stored = self._bridge.run(
                self._store(name, _read_files(), request.form.get("note", ""))
            )
        except ValidationError as error:
            findings = [Finding(message=validation_sentence(detail)) for detail in error.errors()]
            refusal = Unprocessable("These files cannot be put", findings=findings)
            return Response(self._render_page(refusal), status=422, mimetype="text/html")
        except ServiceError as refusal:
            return Response(self._render_page(refusal), status=refusal.status, mimetype="text/html")
        version = f"version {stored.version.version}"
        flash(f"Stored as {version}." if stored.new else f"It is {version} already.")
        return redirect(url_for("pages.asset", name=name), 303)

    async def _store(self, name: str, files: dict[str, bytes], note: str) -> StoredAsset:
        new = NewAsset(
            files=[
                NewAssetFile(
                    path=path,
                    size=len(data),
                    checksum=f"sha256:{hashlib.sha256(data).hexdigest()}",
                )
                for path, data in files.items()
            ],
            note=note,
        )
        context = self._context
        draft = await begin_asset(context, name, new)
        if draft.uid is None:
            assert draft.version is not None  # noqa: S101 - one of both
            version = draft.version
            return StoredAsset(version=version, new=False, newest=version.version)
        for missing in draft.missing:
            place = {"number": missing.number}
            data = files[missing.path]
            await receive_piece(context, name, draft.uid, **place, offset=0, data=data)
            await complete_file(context, name, draft.uid, **place)
        return await complete_asset(context, name, draft.uid)

    def show(self, name: str) -> str:
        """Show an asset."""
        uses = self._bridge.run(list_asset_uses(self._context, name))
        newest_version = next(
            (use.version.version for use in uses.versions if use.version.removed_at is None), None
        )
        return render_template("asset.html", asset=uses, newest=newest_version)

    def remove(self, name: str) -> AnyResponse:
        """Withdraw a version of an asset."""
        version = request.form.get("version", type=int)
        removed = self._bridge.run(remove_asset(self._context, name, version=version))
        using = sum(len(use.chains) for use in removed.kept)
        stay = f" Its files stay until {format_count(using, 'chain')} ended." if using else ""
        flash(f"Version {version} is given to no new chain.{stay}")
        return redirect(url_for("pages.asset", name=name), 303)


def _read_files() -> dict[str, bytes]:
    """Return the uploaded files by their path in the asset.

    Raises:
        Unprocessable: No file was chosen.
    """
    files = [file for file in request.files.getlist("file") if file.filename]
    folder = [file for file in request.files.getlist("folder") if file.filename]
    contents = {_read_name(file): file.read() for file in files}
    contents |= {
        _read_name(file).partition("/")[2] or _read_name(file): file.read() for file in folder
    }
    if not contents:
        raise Unprocessable("no file was chosen")
    return contents


def _read_name(file: FileStorage) -> str:
    """Return the path of an uploaded file; browsers put the folder first."""
    return (file.filename or "").replace("\\", "/")
