"""Pages of assets on the real services: upload of small files, history, removal."""

from httpx import ASGITransport, AsyncClient

from tests.callers import allow_everybody
from tests.integration.assets.asset_services import Assets, make_bound_plan
from tests.integration.operator.forms import read_token


async def test_pages_store_show_and_remove_versions(assets: Assets) -> None:
    http = AsyncClient(
        transport=ASGITransport(allow_everybody(assets.app)), base_url="http://operator.test"
    )
    async with http:
        form = {"csrf_token": read_token(await http.get("/assets"))}
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
        chain = await assets.chain("one", make_bound_plan("asset:conf", "Directory"))
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
