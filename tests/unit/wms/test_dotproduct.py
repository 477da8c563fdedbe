"""Files of several data sets are joined into jobs by their numbers."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.jobs.job_inputs import InputFile
from tests.integration.wms.wms_fixture import CHECKSUM
from wms.domain.splitting.dotproduct import FileStream, is_over, join_streams


def make_files(port: str, numbers: list[int]) -> list[InputFile]:
    return [
        InputFile(
            seq=n,
            name=f"{port}-{n}",
            size=1,
            checksum=CHECKSUM,
            url=f"file:///s/{port}-{n}",
            port=port,
        )
        for n in numbers
    ]


def match_pairs(
    numbers: dict[str, list[int]], optional: set[str], pages: dict[str, int]
) -> list[tuple[int, list[str]]]:
    """Return the jobs of streams that are read page by page."""
    streams = [FileStream(port, port in optional) for port in numbers]
    left = {port: make_files(port, sorted(port_numbers)) for port, port_numbers in numbers.items()}
    numbered_pairs = []
    while not is_over(streams):
        for stream in streams:
            while stream.is_dry:
                page, left[stream.port] = (
                    left[stream.port][: pages[stream.port]],
                    left[stream.port][pages[stream.port] :],
                )
                stream.add(page, last=not left[stream.port])
        numbered_pairs += [
            (number, [file.port for file in pair]) for number, pair in join_streams(streams)
        ]
    return numbered_pairs


@given(data=st.data())
def test_pairs_do_not_depend_on_the_page_sizes(data: st.DataObject) -> None:
    numbers = {
        port: data.draw(st.lists(st.integers(0, 12), unique=True), label=port)
        for port in ("a", "b", "c")
    }
    optional = data.draw(st.sets(st.sampled_from(["a", "b", "c"])), label="optional")
    pages = {port: data.draw(st.integers(1, 5), label=f"page of {port}") for port in numbers}
    expected = []
    for number in sorted({number for port_numbers in numbers.values() for number in port_numbers}):
        ports = [port for port, port_numbers in numbers.items() if number in port_numbers]
        if all(port in ports or port in optional for port in numbers):
            expected.append((number, ports))
    assert match_pairs(numbers, optional, pages) == expected


def test_joining_stops_at_the_end_of_a_required_stream() -> None:
    needed, other = FileStream("a", optional=False), FileStream("b", optional=True)
    needed.add(make_files("a", [0]), last=True)
    other.add(make_files("b", [0, 1]), last=False)
    assert [number for number, _ in join_streams([needed, other])] == [0]
    assert is_over([needed, other])
