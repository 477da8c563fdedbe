"""Pages of assets on the real services: upload of small files, history, removal."""

from httpx import ASGITransport, AsyncClient

from tests.callers import for_anybody
from tests.integration.assets.asset_services import Assets, bound
from tests.integration.operator.forms import token_of


async def test_pages_store_show_and_remove_versions(assets: Assets) -> None:
    http = AsyncClient(
        transport=ASGITransport(for_anybody(assets.app)), base_url="http://operator.test"
    )
    async with http:
        form = {"csrf_token": token_of(await http.get("/assets"))}
        files = [
            ("file", ("config.ini", b"[a]")),
            ("folder", ("conf/words/cs.txt", b"slovo")),
        ]
        nothing = await http.post("/assets", data={**form, "name": "conf"})
        assert (nothing.status_code, "no file was chosen" in nothing.text) == (422, True)
        refusal = await http.post("/assets", data={**form, "name": "no name"}, files=files)
        assert refusal.status_code == 422
        put = await http.post(
            "/assets", data={**form, "name": "conf", "note": "first"}, files=files
        )
        assert put.headers["location"] == "/assets/conf", put.text
        again = await http.post("/assets", data={**form, "name": "conf"}, files=files)
        assert again.status_code == 303
        [version] = (await assets.client.get_asset("conf")).versions
        assert [file.path for file in version.files] == ["config.ini", "words/cs.txt"]
        chain = await assets.chain("one", bound("asset:conf", "Directory"))
        page = (await http.get("/assets/conf")).text
        for shown in ("It is version 1 already.", "first", "words/cs.txt", str(chain.uid)):
            assert shown in page, shown
        assert ">conf</a>" in (await http.get("/assets")).text
        removed = await http.post("/assets/conf/remove", data={**form, "version": "1"})
        assert removed.status_code == 303
        page = (await http.get("/assets/conf")).text
        assert "Its files stay until 1 chain ended." in page
        assert "All versions were taken back" in page
        assert (await http.get("/assets/nothing")).status_code == 404
