"""What is made of an inventory's description of a device, and where its limits are."""

import json
from typing import Any

import pytest

from netautod.core.errors import InvalidInput
from netautod.core.json import values as json_values
from netautod.network.inventory.sync.desired import LABELS, METADATA_BYTES, DesiredDevice, desired_device
from tests.network.inventory.sync.fake_inventory import machine
from tests.support.tables import over

LABEL, TEXT = "x" * 255, "x" * 4096
HOST = ".".join(["x" * 61] * 4)
TAGS = tuple(map(str, range(100)))
PADDING = len('{"a": ""}')


def desired(fields: dict[str, Any]) -> DesiredDevice:
    return desired_device(machine(1, **{"name": "sw1", **fields}), "digest")


def nested(depth: int) -> Any:
    return json.loads("[" * depth + "]" * depth)


@over(
    ("field", "given", "kept"),
    [
        pytest.param("name", LABEL, LABEL, id="the longest name"),
        pytest.param("name", "  sw 1 ", "sw 1", id="blanks around a name"),
        pytest.param("host", HOST, HOST, id="a long host"),
        pytest.param("host", " 192.0.2.9 ", "192.0.2.9", id="blanks around a host"),
        pytest.param("device_type", "a" * 64, "a" * 64, id="the longest type"),
        pytest.param("external_id", LABEL, LABEL, id="the longest id"),
        pytest.param("inventory_id", 0, 0, id="the smallest number"),
        pytest.param("inventory_id", json_values.INT64_MAX, json_values.INT64_MAX, id="the largest number"),
        pytest.param("inventory_id", None, None, id="no number"),
        pytest.param("tags", TAGS, TAGS, id="as many tags as there may be"),
        pytest.param("tags", (*TAGS, "99", " 98 ", ""), TAGS, id="tags that are there twice or empty"),
        pytest.param("tags", (LABEL,), (LABEL,), id="the longest tag"),
        pytest.param("metadata", {"a": "ü\u20ac"}, {"a": "ü\u20ac"}, id="other letters in metadata"),
        pytest.param("metadata", {"a": 2**63 - 1}, {"a": 2**63 - 1}, id="the largest number in metadata"),
        pytest.param(
            "metadata",
            {"a": "x" * (METADATA_BYTES - PADDING)},
            {"a": "x" * (METADATA_BYTES - PADDING)},
            id="the largest metadata",
        ),
        pytest.param(
            "metadata", {"a": [[], []] * 40}, {"a": [[], []] * 40}, id="many brackets that are not deep"
        ),
    ],
)
def test_what_is_kept(field: str, given: Any, kept: Any) -> None:
    found = desired({field: given})
    assert getattr(found, field) == kept
    assert json.loads(found.metadata_text or "") == found.metadata
    assert found.digest == "digest"


@over(
    ("field", "given", "kept"),
    [
        *(pytest.param(name, LABEL, LABEL, id=f"the longest {name}") for name in LABELS),
        *(pytest.param(name, "  ", None, id=f"a blank {name}") for name in LABELS),
        pytest.param("site", " Bonn ", "Bonn", id="blanks around a site"),
        pytest.param("model", None, None, id="no model"),
        pytest.param("description", TEXT, TEXT, id="the longest description"),
        pytest.param("description", " as it is ", " as it is ", id="blanks around a description"),
        pytest.param("description", "", None, id="an empty description"),
    ],
)
def test_what_is_kept_of_texts(field: str, given: str | None, kept: str | None) -> None:
    texts = {**dict.fromkeys((*LABELS, "description")), field: kept}
    assert desired({field: given}).texts == texts


@over(
    ("field", "given", "said"),
    [
        *(pytest.param(name, f"{LABEL}x", f"{name}: longer than 255", id=name) for name in LABELS),
        ("description", f"{TEXT}x", "description: longer than 4096"),
        ("name", f"{LABEL}x", "name: longer than 255"),
        ("name", " ", "name: the device has none"),
        ("host", "x" * 256, "host: longer than 255"),
        ("host", " ", "host: not a host name"),
        ("device_type", "a" * 65, "device_type: longer than 64"),
        ("device_type", "", "device_type: must consist of"),
        ("device_type", "cisco-ios", "device_type: must consist of"),
        ("external_id", f"{LABEL}x", "external_id: longer than 255"),
        ("external_id", "", "external_id: the device has none"),
        ("external_id", 17, "external_id: not a text"),
        ("inventory_id", -1, "inventory_id: not a number"),
        ("inventory_id", json_values.INT64_MAX + 1, "inventory_id: not a number"),
        ("inventory_id", True, "inventory_id: not a number"),
        ("inventory_id", "1", "inventory_id: not a number"),
        ("tags", (*TAGS, "one more"), "tags: more than 100"),
        ("tags", (f"{LABEL}x",), "tags: longer than 255"),
        ("tags", (1,), "tags: not a text"),
        ("metadata", {"a": "x" * (METADATA_BYTES - PADDING + 1)}, "metadata: larger than 65536 bytes"),
        ("metadata", {"a": 2**63}, "a: "),
        ("metadata", {"a": nested(json_values.MAX_DEPTH + 1)}, ""),
        ("metadata", {"a": "\x00"}, "a: NUL"),
        ("metadata", {"a": float("nan")}, "metadata: no JSON"),
        ("metadata", {"a": {1, 2}}, "metadata: no JSON"),
    ],
)
def test_what_is_refused(field: str, given: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        desired({field: given})
    assert refused.value.text.startswith(said)


def test_a_device_without_a_digest_has_none() -> None:
    assert desired_device(machine(1, "sw1"), "").digest is None
    assert desired({"metadata": {}}).metadata_text == "{}"
