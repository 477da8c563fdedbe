"""Data of chains and data sets through the operator: downloads, ranges, archives, previews.

The DMS is the real one.
"""

import io
import json
import tarfile
import zipfile
from uuid import UUID, uuid4

from sluice.contracts.chains.chains import ChainDataset, ChainOutputs
from sluice.contracts.common.states import ChainState, DatasetState
from tests.integration.operator.data.results import PNG, Results, create_filled_dataset
from tests.waiting import eventually


async def test_file_is_forwarded_with_ranges_and_etag(results: Results) -> None:
    path = f"/api/v1{results.path('long.txt')}/content"
    whole = await results.get(path)
    assert (whole.status_code, len(whole.content)) == (200, 208_890)
    assert whole.headers["content-disposition"].startswith('attachment; filename="long.txt"')
    assert (
        whole.headers["x-content-type-options"],
        "sandbox" in whole.headers["content-security-policy"],
    ) == ("nosniff", True)
    part = await results.get(path, range="bytes=7-13", if_range=whole.headers["etag"])
    assert (part.status_code, part.content, part.headers["content-range"]) == (
        206,
        b"line 1\n",
        "bytes 7-13/208890",
    )
    assert (await results.get(path, range="bytes=999999-")).status_code == 416
    again = await results.operator.http.get(path, headers={"If-None-Match": whole.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = await results.operator.http.head(path)
    assert (head.status_code, head.headers["content-length"], head.content) == (200, "208890", b"")
    missing = await results.get(f"/api/v1/datasets/{results.outputs[0]}/files/99999/content")
    assert (missing.status_code, missing.headers["content-type"]) == (
        404,
        "application/problem+json",
    )


async def test_outputs_of_a_chain_are_listed_and_archived(results: Results) -> None:
    uid = results.chain.uid
    listed = ChainOutputs.model_validate_json(
        (await results.get(f"/api/v1/chains/{uid}/outputs")).content
    )
    assert [output.dataset.uid for output in listed.outputs] == results.outputs
    zipped = await results.get(f"/api/v1/chains/{uid}/archive")
    names = zipfile.ZipFile(io.BytesIO(zipped.content)).namelist()
    first, second = (output.name for output in listed.outputs)
    assert names == [
        f"{first}/total.json",
        *(f"{second}/{name}" for name in list(results.files)[1:]),
    ]
    assert "run%20312.graph.zip" in zipped.headers["content-disposition"]
    tarred = await results.get(f"/api/v1/datasets/{results.outputs[1]}/archive?format=tar")
    with tarfile.open(fileobj=io.BytesIO(tarred.content)) as archive:
        assert archive.getnames() == list(results.files)[1:]


async def test_missing_or_unknown_outputs_are_left_out(results: Results) -> None:
    inner = results.chain.datasets[0].model_copy(update={"port": None})
    unknown = results.chain.datasets[1].model_copy(update={"uid": uuid4()})

    async def listed(datasets: list[ChainDataset]) -> list[UUID]:
        chain = results.chain.model_copy(update={"datasets": datasets})
        results.operator.neighbours.chains[chain.uid] = chain
        answer = await results.get(f"/api/v1/chains/{chain.uid}/outputs")
        return [
            output.dataset.uid
            for output in ChainOutputs.model_validate_json(answer.content).outputs
        ]

    assert await listed(results.chain.datasets[1:]) == results.outputs[1:]
    assert await listed([inner, *results.chain.datasets[1:]]) == results.outputs[1:]
    assert await listed([results.chain.datasets[0], unknown]) == results.outputs[:1]


async def test_archive_of_an_unfinished_or_deleted_chain_is_refused(results: Results) -> None:
    chains = results.operator.neighbours.chains
    chains[results.chain.uid] = results.chain.model_copy(update={"state": ChainState.IN_PROGRESS})
    refused = await results.get(f"/api/v1/chains/{results.chain.uid}/archive")
    assert (refused.status_code, "complete when it has finished" in refused.json()["detail"]) == (
        409,
        True,
    )
    chains[results.chain.uid] = results.chain
    await results.dms.delete_dataset(results.outputs[1], force=True)

    async def is_deleted() -> bool:
        return (await results.dms.get_dataset(results.outputs[1])).state is DatasetState.DELETED

    await eventually(is_deleted, what="the output is deleted")
    assert (await results.get(f"/api/v1/chains/{results.chain.uid}/archive")).status_code == 409
    page = (await results.get(f"/chains/{results.chain.uid}")).text
    assert "total.json" in page
    assert "archive?format" not in page
    assert (await results.get(f"/api/v1/datasets/{uuid4()}/archive")).status_code == 404
    assert "has been deleted" in (await results.get(results.path("plot.png"))).text


async def test_pages_show_results_and_previews_of_files(results: Results) -> None:
    page = (await results.get(f"/chains/{results.chain.uid}")).text
    for name in results.files:
        assert f'href="{results.path(name)}"' in page
    assert f"/api/v1/chains/{results.chain.uid}/archive?format=zip" in page
    listed = (await results.get(f"/datasets/{results.outputs[1]}")).text
    assert f'href="/api/v1{results.path("plot.png")}/content"' in listed
    assert f"/api/v1/datasets/{results.outputs[1]}/archive?format=tar" in listed
    shown = {name: (await results.get(results.path(name))).text for name in results.files}
    assert "&#34;markup&#34;: &#34;&lt;b&gt;&#34;" in shown["total.json"]
    assert f'<img src="{results.path("plot.png")}/image"' in shown["plot.png"]
    assert "<td>&lt;i&gt;77&lt;/i&gt;</td>" in shown["table.csv"]
    assert "Only the beginning is shown: 65.5 kB of 209 kB" in shown["long.txt"]
    assert "The file is empty" in shown["none"]


async def test_files_are_never_served_as_active_content(results: Results) -> None:
    page = await results.get(results.path("evil.svg"))
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text
    assert (await results.get(results.path("evil.svg") + "/image")).status_code == 404
    assert (await results.get(results.path("total.json") + "/image")).status_code == 404
    image = await results.get(results.path("plot.png") + "/image")
    assert (image.content, image.headers["content-type"]) == (PNG, "image/png")
    raw = await results.get(f"/api/v1{results.path('evil.svg')}/content")
    for answer in (image, raw):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert raw.headers["content-type"] == "application/octet-stream"
    assert raw.headers["content-disposition"].startswith("attachment")


async def test_files_are_listed_in_pages(results: Results) -> None:
    uid = await create_filled_dataset(
        results.dms, results.folder, {f"file-{number:03d}.txt": b"x" for number in range(120)}
    )
    names: list[str] = []
    address: str | None = f"/datasets/{uid}"
    while address is not None:
        page = (await results.get(address)).text
        names += [line.split(">")[-1] for line in page.split("</a></th>")[:-1]]
        following = [part.split('"')[0] for part in page.split(f'href="/datasets/{uid}?after=')[1:]]
        address = f"/datasets/{uid}?after={following[0].partition('#')[0]}" if following else None
    assert names == [f"file-{number:03d}.txt" for number in range(120)]


async def test_openapi_document_has_the_download_routes(results: Results) -> None:
    paths = (await results.get("/api/openapi.json")).json()["paths"]
    content = paths["/api/v1/datasets/{uid}/files/{file}/content"]
    assert {"get", "head"} <= content.keys()
    assert {"200", "206", "304", "404"} <= content["get"]["responses"].keys()
    assert json.dumps(paths["/api/v1/chains/{uid}/archive"]).count("application/x-tar")
