"""Reading CSV files: what a spreadsheet may look like, and what is refused as a whole."""

import time
from pathlib import Path
from typing import Any

import pytest

from netautod.core.errors import InvalidInput
from netautod.network.inventory.imports.csv_rows import CsvFile
from netautod.network.inventory.imports.models import ROW_LIMIT
from tests.support.calibration import slowness

HEAD = "name,host,device_type"
FULL = {"name": "a", "host": "10.0.0.1", "device_type": "linux"}


def values(text: str) -> list[Any]:
    rows = list(CsvFile(text.encode()).rows())
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert [row.problem for row in rows] == [None] * len(rows)
    return [row.value for row in rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"{HEAD}\na,10.0.0.1,linux\n", [FULL], id="plain"),
        pytest.param(f"{HEAD}\na,10.0.0.1,linux", [FULL], id="no line end at the end"),
        pytest.param(f"{HEAD}\r\na,10.0.0.1,linux\r\n", [FULL], id="line ends of Windows"),
        pytest.param(f"{HEAD}\ra,10.0.0.1,linux\r", [FULL], id="line ends of old Macs"),
        pytest.param(f"\ufeff{HEAD}\na,10.0.0.1,linux\n", [FULL], id="a byte order mark"),
        pytest.param(f"\ufeff\ufeff{HEAD}\na,10.0.0.1,linux\n", [FULL], id="two byte order marks"),
        pytest.param("sep=;\nname;host;device_type\na;10.0.0.1;linux\n", [FULL], id="a line of Excel"),
        pytest.param(f"\ufeffsep=,\r\n{HEAD}\r\na,10.0.0.1,linux\r\n", [FULL], id="one behind a mark"),
        pytest.param(f"Sep=,\r{HEAD}\ra,10.0.0.1,linux\r", [FULL], id="one of old Macs"),
        pytest.param(f'"sep=,",,\n{HEAD}\na,10.0.0.1,linux\n', [FULL], id="one that was written as a row"),
        pytest.param(f"sep=,\n\n{HEAD}\na,10.0.0.1,linux\n", [FULL], id="one and a blank row"),
        pytest.param("sep=\t\nname\thost\tdevice_type\na\t10.0.0.1\tlinux\n", [FULL], id="one with a tab"),
        pytest.param(
            'sep=;\nname;host;device_type;"a,name,host,device_type,b"\na;10.0.0.1;linux;\n',
            [FULL],
            id="the delimiter that it names",
        ),
        pytest.param(f"{HEAD}\na,10.0.0.1,linux\n", [FULL], id="none"),
        pytest.param("name;host;device_type\na;10.0.0.1;linux\n", [FULL], id="semicolons"),
        pytest.param("name\thost\tdevice_type\na\t10.0.0.1\tlinux\n", [FULL], id="tabs"),
        pytest.param('"name";"host";"device_type"\n"a";"10.0.0.1";linux\n', [FULL], id="all names quoted"),
        pytest.param(
            'name;host;device_type;"a, b, c, d, e"\na;10.0.0.1;linux;\n', [FULL], id="commas in a name"
        ),
        pytest.param("Device_Type, HOST ,NaMe\nlinux,10.0.0.1,a\n", [FULL], id="any case and order"),
        pytest.param(f"{HEAD}\n\n , ,\na,10.0.0.1,linux\n\n,,\n,,\n", [FULL], id="blank rows"),
        pytest.param(f"\n,,\n{HEAD}\na,10.0.0.1,linux\n", [FULL], id="blank rows before the header"),
        pytest.param(f"{HEAD}\n a , 10.0.0.1,linux \n", [FULL], id="cells are trimmed"),
        pytest.param(f"{HEAD},,\na,10.0.0.1,linux,,\n", [FULL], id="columns without name and value"),
        pytest.param(f"{HEAD}\na,10.0.0.1,linux,,,\n", [FULL], id="empty cells behind the header"),
        pytest.param(f"{HEAD},port,site\na,10.0.0.1,linux\n", [FULL], id="a row that ends early"),
        pytest.param(f"{HEAD}\n", [], id="a header alone"),
    ],
)
def test_spreadsheets_are_read_as_they_come(text: str, expected: list[Any]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        pytest.param("port", "2222", {"port": 2222}, id="a port"),
        pytest.param("port", "ssh", {"port": "ssh"}, id="no number: for the rules to refuse"),
        pytest.param("port", "22.0", {"port": "22.0"}, id="nor this"),
        pytest.param("port", "", {}, id="an empty cell"),
        pytest.param("tags", "a|b | c||", {"tags": ["a", "b", "c"]}, id="tags"),
        pytest.param("Description", '"two\nlines"', {"description": "two\nlines"}, id="a quoted line break"),
        pytest.param("Description", '"say ""hi"""', {"description": 'say "hi"'}, id="quotes in quotes"),
        pytest.param("description", "=1+1", {"description": "=1+1"}, id="a formula"),
        pytest.param("Site", "'@SUM(A1)", {"site": "'@SUM(A1)"}, id="an escaped formula"),
        pytest.param("Rack", " 12 ", {"metadata": {"Rack": " 12 "}}, id="an unknown column"),
        pytest.param("Rack", "", {}, id="an unknown column without value"),
        pytest.param("$ne", "=x", {"metadata": {"$ne": "=x"}}, id="the name of an operator"),
        pytest.param("site_id", "7", {"metadata": {"site_id": "7"}}, id="a field that no CSV has"),
        pytest.param("id", "7", {"metadata": {"id": "7"}}, id="a read-only field"),
    ],
)
def test_a_cell(column: str, cell: str, expected: dict[str, Any]) -> None:
    assert values(f"{HEAD},{column}\na,10.0.0.1,linux,{cell}\n") == [{**FULL, **expected}]


def test_a_value_without_a_column_is_an_error_of_its_row() -> None:
    rows = list(CsvFile(f"{HEAD}\na,10.0.0.1,linux,x\nb,10.0.0.2,linux\n".encode()).rows())
    assert rows[0].problem == "the row has more cells than the header row"
    assert rows[0].value["name"] == "a"
    assert rows[1].problem is None


def test_a_real_spreadsheet(repository_root: Path) -> None:
    body = (repository_root / "tests" / "data" / "devices-semicolon.csv").read_bytes()
    rows = list(CsvFile(body).rows())
    assert [row.value["name"] for row in rows] == ["sw-münchen-01", "fw-köln-01", "rt-zürich-01", "kaputt"]
    assert rows[0].value["description"] == 'Etage 3; Raum "Isar"\r\nSchrank 7'
    assert rows[0].value["metadata"] == {"Höheneinheit": "12"}
    assert rows[1].value["tags"] == ["firewall", "dmz"]


BIG = "x" * (10 * 1024 * 1024)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(b"", "The file is empty", id="nothing"),
        pytest.param(b"\xef\xbb\xbf\r\n \r\n", "The file is empty", id="blank lines"),
        pytest.param(b'{"name": "a"}', "The header row lacks name, host, device_type", id="JSON"),
        pytest.param(b"<html>\n<body>", "The header row lacks name, host, device_type", id="HTML"),
        pytest.param(b"PK\x03\x04\x14\x00\x06\x00", "NUL in line 1", id="a workbook"),
        pytest.param(b"a,10.0.0.1,linux\n", "The header row lacks name, host, device_type", id="no header"),
        pytest.param(b"name,host\na,b\n", "The header row lacks device_type", id="a column is missing"),
        pytest.param(b"a,b\n", 'device_type: line 1 is "a,b"', id="the line that was taken for the header"),
        pytest.param(b"\n ,\n\xe2\x80\xaeab;c\r\n", 'line 3 is "\\u202eab;c"', id="below blank ones"),
        pytest.param(b"sep=;\nname,host,device_type\n", 'line 2 is "name,host,device_type"', id="by sep="),
        pytest.param(b"sep=|\na|b\n", '"sep=|" in line 1 names a delimiter', id="a delimiter of its own"),
        pytest.param(b"sep=;\n", "The file is empty", id="a line of Excel alone"),
        pytest.param(f"a,{'b' * 200}\n".encode(), f'line 1 is "a,{"b" * 98}..."', id="a long line"),
        pytest.param(b'"a"b,c\nd,e\n', 'begins in line 1): ""a"b,c"', id="a header with a broken quote"),
        pytest.param(f"{HEAD},Host\n".encode(), f'once: line 1 is "{HEAD},Host"', id="a column twice"),
        pytest.param(f"{HEAD},Rack,rack\n".encode(), "names rack more than once", id="an unknown one twice"),
        pytest.param(f"{HEAD}\na,b,c\n".encode("utf-16"), "The file is in UTF-16", id="UTF-16"),
        pytest.param(f"{HEAD}\na,b,c\n".encode("utf-16-be"), "NUL in line 1", id="UTF-16 without a mark"),
        pytest.param(f"{HEAD}\nKöln,b,c\n".encode("latin-1"), "not in UTF-8 (byte 0xf6)", id="Latin-1"),
        pytest.param(f"{HEAD}\na\0,b,c\n".encode(), "NUL in line 2", id="NUL"),
        pytest.param(f'{HEAD}\n"a,b,c\nd,e,f\n'.encode(), "a quote is never closed", id="an open quote"),
        pytest.param(f'{HEAD}\n"a"b,c,d\n'.encode(), "begins in line 2", id="text behind a quote"),
        pytest.param(f"{HEAD}\na,{BIG},c\n".encode(), "a row is longer than", id="a field of 10 MB"),
        pytest.param(f'{HEAD}\na,"{BIG}",c\n'.encode(), "a row is longer than", id="a quoted one"),
        pytest.param(f"{HEAD}\na,{',' * ROW_LIMIT},c\n".encode(), "a row is longer than", id="many fields"),
        pytest.param((f'{HEAD}\n"' + "a\n" * ROW_LIMIT).encode(), "longer than", id="an open quote in much"),
        pytest.param(f"name{',' * ROW_LIMIT}\n".encode(), "a row is longer than", id="a huge header"),
    ],
)
def test_what_is_no_csv_is_refused_as_a_whole(body: bytes, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        list(CsvFile(body).scan())
    assert text in caught.value.text


def test_a_row_of_the_largest_size_is_read() -> None:
    rest = f"a,10.0.0.1,linux,{'x' * (ROW_LIMIT - 18)}\n"
    assert len(rest) == ROW_LIMIT
    twice = list(CsvFile(f"{HEAD},description\n{rest}{rest}".encode()).rows())
    assert [len(row.value["description"]) for row in twice] == [ROW_LIMIT - 18] * 2


def test_a_header_with_as_many_columns_as_fit_is_read_at_once() -> None:
    columns = (f",{number:x}" for number in range(20_000))
    header = HEAD + "".join(columns)
    assert len(header) < ROW_LIMIT
    began = time.process_time()
    assert list(CsvFile(f"{header}\n".encode()).rows()) == []
    assert time.process_time() - began < 1 * slowness()
