"""Counts of what one request may hold: each at its bound, and one beyond."""

from typing import Any

import pytest
from marshmallow import fields

from netautod.automation.tasks.schemas import TaskCreate
from netautod.core.errors import InvalidInput
from netautod.core.json.parts import encoded_parts
from netautod.core.json.values import MOST_VALUES, decode, encode
from netautod.core.schema.bases import JsonObject, Request, load
from netautod.identity.auth.schemas import ApiTokenBody
from netautod.identity.users.schemas import RoleRequest
from netautod.network.configs.schemas import BulkPullRequest
from netautod.network.devices.operations.schemas import LoginTestsRequest
from netautod.network.devices.schemas import DeviceRequest
from netautod.network.inventory.schemas import InventoryFilters

ID = "00000000-0000-4000-8000-000000000001"


class Forgetful(Request):
    """Declares no bound at all."""

    text = fields.String()
    numbers = fields.List(fields.Integer())
    inner = fields.List(fields.List(fields.Integer()))
    object = fields.Dict()
    raw = fields.Raw()
    filters = InventoryFilters()
    small = JsonObject(most_bytes=1024)


def object_of(size: int) -> dict[str, str]:
    return {"a": "x" * (size - len('{"a":""}'))}


@pytest.mark.parametrize(
    ("kind", "field", "value", "beyond", "text"),
    [
        pytest.param(BulkPullRequest, "device_ids", [ID] * 10_000, [ID] * 10_001, "10000", id="ids to pull"),
        pytest.param(
            LoginTestsRequest, "device_ids", [ID] * 10_000, [ID] * 10_001, "10000", id="ids to test"
        ),
        pytest.param(RoleRequest, "permissions", ["*"] * 500, ["*"] * 501, "500", id="permissions"),
        pytest.param(ApiTokenBody, "permissions", ["*"] * 500, ["*"] * 501, "500", id="of a token"),
        pytest.param(DeviceRequest, "tags", ["a"] * 200, ["a"] * 201, "200", id="tags"),
        pytest.param(DeviceRequest, "tags", ["a" * 128], ["a" * 129], "128", id="characters of a tag"),
        pytest.param(DeviceRequest, "metadata", object_of(65536), object_of(65537), "64 KiB", id="metadata"),
        pytest.param(
            TaskCreate, "parameters", object_of(524288), object_of(524289), "512 KiB", id="parameters"
        ),
        pytest.param(
            Forgetful, "filters", {"tags": ["a"] * 200}, {"tags": ["a"] * 201}, "200 slugs", id="a filter"
        ),
        pytest.param(Forgetful, "small", object_of(1024), object_of(1025), "1 KiB", id="an object"),
        pytest.param(Forgetful, "text", "x" * 4096, "x" * 4097, "4096", id="a forgotten text"),
        pytest.param(Forgetful, "numbers", [1] * 200, [1] * 201, "200", id="a forgotten array"),
        pytest.param(Forgetful, "inner", [[1] * 200], [[1] * 201], "inner.0", id="an array in an array"),
        pytest.param(
            Forgetful, "object", object_of(65536), object_of(65537), "64 KiB", id="a forgotten object"
        ),
        pytest.param(Forgetful, "raw", object_of(65536), object_of(65537), "64 KiB", id="anything"),
    ],
)
def test_each_count_has_its_bound(
    kind: type[Request], field: str, value: Any, beyond: Any, text: str
) -> None:
    assert field in load(kind(), {field: value}, partial=True)
    with pytest.raises(InvalidInput) as caught:
        load(kind(), {field: beyond}, partial=True)
    assert caught.value.text.startswith(field)
    assert text in caught.value.text


def test_wrong_values_are_named_ten_at_a_time() -> None:
    with pytest.raises(InvalidInput) as caught:
        load(BulkPullRequest(), {"device_ids": ["no"] * 5000})
    assert caught.value.text.count("Not a UUID") == 10
    assert caught.value.text.endswith("... and 4,990 more")


@pytest.mark.parametrize("count", [MOST_VALUES, MOST_VALUES + 1])
def test_values_are_counted_outside_of_texts(count: int) -> None:
    text = b'"[,{\\"' + b"," * MOST_VALUES + b'"'
    body = b'{"a":' + text + b',"b":[' + b",".join([b"1"] * (count - 3)) + b"]}"
    if count == MOST_VALUES:
        assert len(decode(body)["b"]) == count - 3
    else:
        with pytest.raises(InvalidInput, match="More than 350,000 values"):
            decode(body)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({}, id="nothing"),
        pytest.param('\x01\u20ac\U0001f600"\\' * 100_000, id="a long text"),
        pytest.param([{"a": [number, None, True, 1.5]} for number in range(20_000)], id="rows"),
        pytest.param({str(number): number for number in range(20_000)}, id="names"),
        pytest.param({"a": {"b": [[], {}, "x" * 200_000, ["y"] * 9000]}, "c": ()}, id="nested"),
    ],
)
def test_parts_are_the_whole(value: Any) -> None:
    parts = list(encoded_parts(value))
    assert b"".join(parts) == encode(value)
    assert max(map(len, parts)) < 1_000_000
