import io
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.datasets.records import CHUNK_BYTES, Piece, parse_record, read_pieces
from training.datasets.types import RecordInvalid


def pieces(data: bytes, *, max_bytes: int = 1000) -> list[Piece]:
    return list(read_pieces(io.BytesIO(data), max_bytes=max_bytes))


def test_lines_are_records_and_blank_lines_are_not():
    found = pieces(b'{"a":1}\n\n  \n{"a":2}\n')

    assert [(piece.line, piece.data) for piece in found] == [
        (1, b'{"a":1}'),
        (4, b'{"a":2}'),
    ]


def test_elements_of_a_list_know_the_line_that_they_begin_on():
    found = pieces(b'[\n  {"a":\n 1},\n\n  {"a": 2}\n]\n')

    assert [piece.line for piece in found] == [2, 5]
    assert [json.loads(piece.data) for piece in found] == [{"a": 1}, {"a": 2}]


def test_brackets_commas_and_quotes_within_strings_cut_nothing():
    records = [{"a": '],[{"\\"}'}, {"b": ["\\\\", '"', "]"]}]

    found = pieces(json.dumps(records).encode())

    assert [json.loads(piece.data) for piece in found] == records


@settings(deadline=None)
@given(
    st.lists(
        st.recursive(
            st.none() | st.integers() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ).map(lambda value: {"value": value}),
        max_size=4,
    ),
    st.booleans(),
)
def test_whatever_json_writes_as_a_list_is_cut_into_its_elements(records, is_indented):
    text = json.dumps(records, indent=1 if is_indented else None, ensure_ascii=False)
    data = text.encode("utf-8", errors="surrogatepass")

    found = pieces(data, max_bytes=10**6)

    assert [json.loads(piece.data) for piece in found] == records


def test_a_record_that_lies_across_chunks_is_whole():
    record = {"text": 'x\\"' * CHUNK_BYTES}

    (found,) = pieces(json.dumps([record]).encode(), max_bytes=10**6)

    assert json.loads(found.data) == record


def test_a_byte_order_mark_is_not_part_of_the_text():
    assert pieces(b'\xef\xbb\xbf{"a":1}')[0].data == b'{"a":1}'
    assert pieces(b'\xef\xbb\xbf[{"a":1}]')[0].data == b'{"a":1}'


def test_a_huge_line_is_left_out_and_the_next_is_read():
    found = pieces(b'{"a":"' + b"x" * 5000 + b'"}\n{"a":2}\n', max_bytes=100)

    assert found[0].line == 1
    assert "larger than the 100 bytes" in found[0].problem
    assert found[1] == Piece(line=2, data=b'{"a":2}')


def test_a_huge_element_is_left_out_and_the_next_is_read():
    found = pieces(b'[\n{"a":"' + b"x" * 5000 + b'"},\n{"a":2}]', max_bytes=100)

    assert found[0].line == 2
    assert "larger than the 100 bytes" in found[0].problem
    assert found[1] == Piece(line=3, data=b'{"a":2}')


@pytest.mark.parametrize("list_mode", [True, False])
def test_memory_is_bounded_by_a_record_and_not_by_the_file(tmp_path, list_mode):
    path = tmp_path / "rows"
    line = b'{"a":"' + b"x" * 10_000 + b'"}'
    with path.open("wb") as file:
        file.write(b"[" if list_mode else b"")
        for _ in range(800):
            file.write(line + (b",\n" if list_mode else b"\n"))
        file.write(line + b"]" if list_mode else b"")

    with path.open("rb") as file:
        tracemalloc.start()
        count = sum(1 for _ in read_pieces(file, max_bytes=20_000))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert count == 800 + list_mode
    assert path.stat().st_size > 8_000_000
    assert peak < 1_000_000


def test_a_list_that_is_cut_off_gives_what_is_whole_and_says_so():
    found = pieces(b'[{"a":1},\n{"a":')

    assert found[0].data == b'{"a":1}'
    assert found[1].line == 2
    assert "ends within the list" in found[1].problem


def test_what_follows_the_list_is_named():
    found = pieces(b'[{"a":1}]\nmore')

    assert "expected nothing after the list, found b'more'" in found[1].problem


def test_nothing_comes_of_an_empty_file():
    assert pieces(b"") == []
    assert pieces(b" \n\n") == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a": }', "expected JSON, but"),
        (b'{"a": "\xff"}', r"""expected UTF-8 text, found b'\xff"}' at byte 8"""),
        (b"[1]", "expected a JSON object, found [1]"),
        (b'{"a":' + b"[" * 200_000, "nested too deeply"),
        (b'{"a":' + b"9" * 5000 + b"}", "expected JSON, but"),
    ],
)
def test_what_is_no_json_object_says_what_it_is(data, reason):
    with pytest.raises(RecordInvalid) as caught:
        parse_record(Piece(line=1, data=data))

    assert reason in str(caught.value)
