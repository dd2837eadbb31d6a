"""A row is judged as the body of `POST /api/devices` is: the same devices, the same sentences."""

from typing import Any

import pytest

from netautod.devices.schemas import DeviceRequest
from netautod.errors import InvalidInput
from netautod.http.schema import load
from netautod.inventory.row_rules import RowRules
from tests.devices.inventory import ABSENT_ID, DEVICE
from tests.devices.test_devices import FULL

ROWS: list[dict[str, Any]] = [
    {},
    DEVICE,
    FULL,
    {**FULL, "name": " trimmed ", "site": " ", "description": "", "model": " 7050 "},
    {**DEVICE, "id": 7, "org_id": {"$ne": 1}, "source": "csv", "created_at": None},
    {**DEVICE, "site_id": ABSENT_ID.upper(), "jump_device_id": ABSENT_ID},
    {**DEVICE, "hostname": "x"},
    {**DEVICE, "hostname": None},
    {"hostname": "x", "port": "22", "tags": [1, ""], "connect_commands": ["a\nb"]},
    *({**FULL, field: None} for field in FULL),
    *({**FULL, field: {"$ne": None}} for field in FULL),
    *({**FULL, field: [{"$ne": None}]} for field in FULL),
    *({**FULL, field: value} for field in FULL for value in ("", "x" * 5000, 0, -1, 2**40, 1.5, True)),
]


def verdict(judge: Any, row: dict[str, Any]) -> Any:
    try:
        return judge(row)
    except InvalidInput as error:
        return error.text


@pytest.mark.parametrize("row", [pytest.param(row, id=f"row {number}") for number, row in enumerate(ROWS)])
def test_the_verdict_is_that_of_the_schema(row: dict[str, Any]) -> None:
    expected = verdict(lambda value: load(DeviceRequest(), value), row)
    assert verdict(RowRules().load, row) == expected


@pytest.mark.parametrize(
    ("row", "text"),
    [
        pytest.param([], "must be a JSON object", id="an array"),
        pytest.param("name", "must be a JSON object", id="a text"),
        pytest.param({**DEVICE, "metadata": {"a": "\0"}}, "metadata.a: NUL", id="NUL"),
        pytest.param({**DEVICE, "metadata": {"\ud800": 1}}, "not valid Unicode", id="a lone surrogate"),
        pytest.param({**DEVICE, "metadata": {"a": 2**63}}, "does not fit into 64 bits", id="over int64"),
        pytest.param({**DEVICE, "metadata": {"a": 1e999}}, "out of range", id="an infinite number"),
    ],
)
def test_what_could_not_be_stored_is_refused(row: Any, text: str) -> None:
    assert text in verdict(RowRules().load, row)


def test_nesting_is_bounded() -> None:
    deep: Any = 1
    for _ in range(70):
        deep = [deep]
    assert "nested over 64 levels" in verdict(RowRules().load, {**DEVICE, "metadata": {"a": deep}})
