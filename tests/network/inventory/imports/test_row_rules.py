"""A row is judged as the body of `POST /api/devices` is: the same devices, the same sentences."""

import time
from typing import Any

import pytest

from netautod.core.errors import InvalidInput
from netautod.core.schema.bases import load
from netautod.network.devices.schemas import DeviceRequest
from netautod.network.inventory.imports.row_rules import RowRules
from tests.network.devices.inventory import ABSENT_ID, DEVICE, FULL
from tests.support.calibration import slowness
from tests.support.tables import over

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


@over("row", [pytest.param(row, id=f"row {number}") for number, row in enumerate(ROWS)])
def test_the_verdict_is_that_of_the_schema(row: dict[str, Any]) -> None:
    expected = verdict(lambda value: load(DeviceRequest(), value), row)
    assert verdict(RowRules().load, row) == expected


@over("row", [[], "name", 7, None])
def test_a_row_is_an_object(row: Any) -> None:
    assert verdict(RowRules().load, row) == "the row must be a JSON object"


@over(
    ("row", "complaint"),
    [
        pytest.param({**DEVICE, "tags": ["a"] * 100_000}, "tags: Longer than maximum length 200", id="tags"),
        pytest.param(
            {**DEVICE, "connect_commands": ["a"] * 100_000}, "connect_commands: Longer", id="connect commands"
        ),
        pytest.param({**DEVICE, **dict.fromkeys(map(str, range(100_000)))}, "more than 200", id="fields"),
    ],
)
def test_a_row_that_is_far_too_large_is_refused_at_once(row: dict[str, Any], complaint: str) -> None:
    began = time.process_time()
    with pytest.raises(InvalidInput) as caught:
        RowRules().load(row)
    assert complaint in caught.value.text
    assert time.process_time() - began < 0.1 * slowness()
