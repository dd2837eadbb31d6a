"""Reading JSON files row by row: values across the parts that are read, and what is refused as a whole."""

import json
from typing import Any

import pytest

from netautod.core.errors import InvalidInput
from netautod.network.inventory.imports.json_rows import PART, JsonFile
from netautod.network.inventory.imports.models import ROW_LIMIT

MUCH_SPACE = b" " * (3 * PART)


def values(body: bytes) -> list[Any]:
    rows = list(JsonFile(body).rows())
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert list(JsonFile(body).scan()) == [row.number for row in rows]
    return [row.value for row in rows]


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param([], id="no rows"),
        pytest.param([{"name": "a"}, {}, 1, "text", None, [1, [2]], True, -0.5], id="values of every kind"),
        pytest.param([{"ü": 'Zürich \u2028 \U0001f600 \\ " } ] ['}] * 3, id="brackets in texts"),
        pytest.param([{"n": number, "x": "é" * (number % 97)} for number in range(9000)], id="many parts"),
        pytest.param(list(range(100_000)), id="numbers at the ends of parts"),
        pytest.param([{"x": "y" * (ROW_LIMIT - 20)}] * 5, id="rows longer than a part"),
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_is_read_as_json_loads_does(expected: list[Any], indent: int | None) -> None:
    assert values(json.dumps(expected, ensure_ascii=False, indent=indent).encode()) == expected


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"\xef\xbb\xbf [1]", id="a byte order mark"),
        pytest.param(b"\n\t [ 1 \r\n ] \n", id="white space"),
        pytest.param(
            b" " * 3 * PART + b"[" + b" " * 3 * PART + b"1" + b" " * 3 * PART + b"]", id="much of it"
        ),
    ],
)
def test_what_stands_around_the_rows_does_not_matter(body: bytes) -> None:
    assert values(body) == [1]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(b"", "must be a JSON array", id="nothing"),
        pytest.param(b'{"devices": []}', "must be a JSON array", id="an object"),
        pytest.param(b"name,host,device_type\n", "must be a JSON array", id="a CSV"),
        pytest.param(b"[", "row 1 is broken or not complete", id="only the beginning"),
        pytest.param(b"[1", "row 1 is broken or not complete", id="cut off"),
        pytest.param(b"[1 ", "] is expected instead of the end", id="cut off behind a row"),
        pytest.param(b"[1,]", "row 2 is broken", id="a comma too many"),
        pytest.param(b"[1 2]", "] is expected instead of '2]'", id="a comma too few"),
        pytest.param(b"[1] 2", "something follows the array", id="something behind it"),
        pytest.param(b"[1]]", "something follows the array", id="a bracket too many"),
        pytest.param(b'[{"a": 1, "b"}]', "row 1 is broken", id="a broken row"),
        pytest.param(b"[" + b"1," * 99_999 + b"x]", "row 100000 is broken", id="one far behind"),
        pytest.param(b"[NaN]", "a value in row 1 cannot be read", id="NaN"),
        pytest.param(b"[1, -Infinity]", "a value in row 2 cannot be read", id="infinity"),
        pytest.param(b"[" + b"9" * 5000 + b"]", "a value in row 1 cannot be read", id="5,000 digits"),
        pytest.param(b"[" * 100_000, "a value in row 1 cannot be read", id="100,000 brackets"),
        pytest.param(b'[{"a":' * 100_000, "a value in row 1 cannot be read", id="100,000 objects"),
        pytest.param(b'["' + b"x" * 10_000_000 + b'"]', "row 1 is longer than", id="a text of 10 MB"),
        pytest.param(b'["' + b"x" * 10_000_000, "row 1 is longer than", id="one without end"),
        pytest.param(
            b"[" + b" " * 10 + b"[" + b"1," * 900_000 + b"1]]", "row 1 is longer than", id="a long row"
        ),
        pytest.param("[1]".encode("utf-16"), "The file is in UTF-16", id="UTF-16"),
        pytest.param('["Köln"]'.encode("latin-1"), "not in UTF-8", id="Latin-1"),
    ],
)
def test_what_is_no_array_is_refused_as_a_whole(body: bytes, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        list(JsonFile(body).scan())
    assert text in caught.value.text


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        pytest.param({"metadata": {"a": "\0"}}, "metadata.a: NUL is not allowed", id="NUL"),
        pytest.param(
            {"metadata": {"\ud800": 1}}, "metadata (a field name): the text is not valid", id="lone surrogate"
        ),
        pytest.param({"metadata": {"a": [2**63]}}, "metadata.a[0]: the number does not fit", id="over int64"),
        pytest.param({"metadata": {"a": 1e999}}, "metadata.a: the number is out of range", id="infinite"),
        pytest.param({"metadata": nested(70)}, "nested over 64 levels deep", id="70 levels"),
    ],
)
def test_what_could_not_be_stored_is_an_error_of_its_row(value: Any, problem: str) -> None:
    body = json.dumps([{"a": 1}, value]).replace("Infinity", "1e999").encode()
    first, second = JsonFile(body).rows()
    assert first.problem is None
    assert problem in (second.problem or "")


def test_a_file_may_hold_more_values_than_another_body() -> None:
    body = json.dumps([{f"field{n}": n for n in range(15)}] * 50_000, separators=(",", ":")).encode()
    assert sum(1 for row in JsonFile(body).rows() if row.problem is None) == 50_000
