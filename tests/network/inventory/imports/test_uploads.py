"""The ways a file comes in, and the files that are refused as a whole, which change nothing."""

import json
from collections.abc import Mapping

import pytest

from netautod.assembly import routes
from netautod.network.inventory.imports.models import MOST_BYTES, MOST_ROWS
from tests.network.devices.inventory import DEVICE, Inventory
from tests.network.inventory.imports.files import CSV, GOOD, HEAD, JSON
from tests.support.client import assert_error


@pytest.mark.parametrize(
    ("path", "raw", "status", "text"),
    [
        pytest.param(CSV, b"", 400, "The file is empty", id="no CSV"),
        pytest.param(CSV, b"PK\x03\x04\0", 400, "The file is not a CSV", id="a workbook"),
        pytest.param(
            CSV, f'{HEAD}\na,b,c\n{"d,e,f" + chr(10)}"g,h,i\n'.encode(), 400, "never closed", id="open quote"
        ),
        pytest.param(
            CSV,
            HEAD.encode() + b"\na,10.0.0.1,linux" * 1000 + b"\n\xff",
            400,
            "not in UTF-8",
            id="not UTF-8 behind 1,000 good rows",
        ),
        pytest.param(CSV, b"x" * (MOST_BYTES + 1), 413, "larger than 16777216 bytes", id="a CSV too large"),
        pytest.param(JSON, b"[" * (MOST_BYTES + 1), 413, "larger than 16777216 bytes", id="JSON too large"),
        pytest.param(JSON, b"", 400, "must be a JSON array", id="no JSON"),
        pytest.param(JSON, b"{}", 400, "must be a JSON array", id="an object"),
        pytest.param(JSON, b"[" * 1_000_000, 400, "row 1 cannot be read", id="a million brackets"),
        pytest.param(
            JSON, b"[" + json.dumps(DEVICE).encode() + b",NaN]", 400, "row 2 cannot be read", id="NaN"
        ),
        pytest.param(JSON, b"[" + b"1," * MOST_ROWS + b"1]", 400, "more than 200000 rows", id="many rows"),
        pytest.param(CSV + "?dry_run=yes", HEAD.encode(), 400, "dry_run: Must be true or false", id="query"),
    ],
)
async def test_a_file_that_is_refused_changes_nothing(
    inventory: Inventory, path: str, raw: bytes, status: int, text: str
) -> None:
    assert_error(await inventory.api.post(path, raw=raw), status, text)
    assert (await inventory.api.get("/api/devices")).json["total"] == 0
    assert await inventory.database.collection("audit_events").count({"action": "device.import"}) == 0


def form(parts: Mapping[str, str], *, boundary: str = "=_b", file_name: str | None = "d.csv") -> bytes:
    named = "" if file_name is None else f'; filename="{file_name}"'
    listed = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n{content}\r\n'
        for name, content in parts.items()
    ]
    return ("".join(listed) + f"--{boundary}--\r\n").encode()


MULTIPART = 'multipart/form-data; boundary="=_b"'


@pytest.mark.parametrize(
    ("raw", "content_type", "text"),
    [
        pytest.param(form({"file": GOOD}), MULTIPART, None, id="a form with a file"),
        pytest.param(form({"x": "1", "file": GOOD}), MULTIPART, None, id="and other fields"),
        pytest.param(form({"file": GOOD}, file_name=None), MULTIPART, None, id="a field without file name"),
        pytest.param(GOOD.encode(), "application/x-www-form-urlencoded", None, id="curl --data-binary"),
        pytest.param(GOOD.encode(), "text/csv; charset=utf-8; header=present", None, id="parameters"),
        pytest.param(form({"data": GOOD}), MULTIPART, "file: must be in the form once", id="another field"),
        pytest.param(
            form({"file": GOOD})[:-9] + form({"file": GOOD}), MULTIPART, "not 2 times", id="two files"
        ),
        pytest.param(form({"file": ""}), MULTIPART, "The file is empty", id="an empty file"),
        pytest.param(
            form({"file": GOOD}), "multipart/form-data", "the boundary of the form", id="no boundary"
        ),
        pytest.param(
            form({"file": GOOD}, boundary="other"), MULTIPART, "not a valid multipart", id="wrong boundary"
        ),
        pytest.param(form({"file": GOOD})[:-9], MULTIPART, "not a valid multipart", id="cut off"),
        pytest.param(
            form({"file": GOOD}).replace(b"d.csv", b"\xff"), MULTIPART, "not a valid multipart", id="bad head"
        ),
        pytest.param(
            form({str(n): "" for n in range(100_000)}), MULTIPART, "not a valid multipart", id="many parts"
        ),
    ],
)
async def test_a_csv_comes_as_the_body_or_in_a_form(
    inventory: Inventory, raw: bytes, content_type: str, text: str | None
) -> None:
    answer = await inventory.api.post(CSV, raw=raw, headers={"Content-Type": content_type})
    if text is None:
        assert answer.expect()["imported"] == 1
    else:
        assert_error(answer, 400, text)


def test_the_description_names_the_ways_and_the_rows() -> None:
    paths = routes.description()["paths"]
    csv = paths[CSV]["post"]["requestBody"]["content"]
    assert set(csv) == {"text/csv", "multipart/form-data"}
    rows = paths[JSON]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert rows == {"type": "array", "items": {"$ref": "#/components/schemas/DeviceRequest"}}
