"""The sources against servers that answer something else than the recorded ones, or lie."""

import json
from typing import Any

import pytest

from netautod.plugin_api import InventoryFailed
from netautod_netbox import NautobotSource
from tests.plugins.netbox.support import Waits, access, netbox, netbox_at, quick, walk
from tests.support.servers.inventory import HTML, Answer, json_answer, recorded
from tests.support.servers.nautobot import TOKEN as NAUTOBOT_TOKEN
from tests.support.servers.nautobot import NautobotReplay
from tests.support.servers.netbox import V1_TOKEN, NetBoxReplay

__all__ = ["netbox"]
NO_PLATFORMS = json_answer({"count": 0, "results": []})
DEVICE = recorded("netbox", "dcim-devices-limit50-p1")["results"][0]


def listing(*rows: Any, count: int = 64, **more: Any) -> bytes:
    return json.dumps(
        {"count": count, "next": None, "previous": None, "results": list(rows), **more}
    ).encode()


DEEP = b'{"count": 1, "results": [{"id": 1, "custom_fields": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]}"
HUGE = b'{"count": 1, "results": [{"id": ' + b"9" * 50_000 + b"}]}"
FAT = b'{"count": 1, "results": [{"id": 1, "name": "' + b"x" * 1_100_000 + b'"}]}'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(HTML, "not valid JSON", id="HTML"),
        pytest.param(b"", "not valid JSON", id="nothing"),
        pytest.param(b"[1, 2]", "not valid JSON", id="a list"),
        pytest.param(b"{}", "no list with a count", id="an empty object"),
        pytest.param(b'{"count": 1, "results": [', "not valid JSON", id="half a page"),
        pytest.param(
            b'{"count": 0, "results": []} and more', "not valid JSON", id="something after the page"
        ),
        pytest.param(b'{"count": "64", "results": []}', "no list with a count", id="a count that is a text"),
        pytest.param(b'{"count": true, "results": []}', "no list with a count", id="a count that is true"),
        pytest.param(b'{"count": -1, "results": []}', "no list with a count", id="a negative count"),
        pytest.param(b'{"count": 1e3, "results": []}', "no list with a count", id="a count with an exponent"),
        pytest.param(b'{"count": NaN, "results": []}', "not valid JSON", id="NaN"),
        pytest.param(b'{"count": 1, "results": {"id": 1}}', "no list of objects", id="results is an object"),
        pytest.param(b'{"count": 1, "results": [null]}', "no list of objects", id="a device that is null"),
        pytest.param(b'\xff\xfe{"count": 1}', "not valid JSON", id="not UTF-8"),
        pytest.param(listing({**DEVICE, "id": "1"}), "id is no whole number", id="an id that is a text"),
        pytest.param(listing({**DEVICE, "id": True}), "id is no whole number", id="an id that is true"),
        pytest.param(listing({**DEVICE, "id": 1.5}), "id is no whole number", id="an id that is a fraction"),
        pytest.param(listing({**DEVICE, "id": None}), "an object has no id", id="no id"),
        pytest.param(listing({**DEVICE, "id": 2**63}), "an object has no id", id="an id over 64 bits"),
        pytest.param(listing({**DEVICE, "name": 5}), "name is no text", id="a name that is a number"),
        pytest.param(listing({**DEVICE, "site": "x"}), "site is no object", id="a site that is a text"),
        pytest.param(
            listing({**DEVICE, "tags": ["x"]}), "tags is no list of objects", id="tags that are texts"
        ),
        pytest.param(
            listing({**DEVICE, "tags": {}}), "tags is no list of objects", id="tags that are an object"
        ),
        pytest.param(
            listing({**DEVICE, "custom_fields": []}),
            "custom_fields is no object",
            id="custom fields as a list",
        ),
        pytest.param(
            listing({**DEVICE, "primary_ip": "10.0.0.1"}), "primary_ip is no object", id="a bare IP"
        ),
        pytest.param(DEEP, "not valid JSON", id="100,000 levels"),
        pytest.param(HUGE, "not valid JSON", id="a number of 50,000 digits"),
        pytest.param(FAT, "not valid JSON", id="a device of 1 MB"),
        pytest.param(
            listing({**DEVICE, "id": 9}, {**DEVICE, "id": 3}), "not in the order", id="another order"
        ),
    ],
)
async def test_answers_of_another_shape(netbox: NetBoxReplay, body: bytes, text: str) -> None:
    netbox.scripted += [NO_PLATFORMS, Answer(body=body)]
    with pytest.raises(InventoryFailed, match=text):
        await walk(netbox_at(netbox.url))
    netbox.scripted.append(Answer(body=body))
    if "order" not in text:
        with pytest.raises(InventoryFailed, match=text):
            await netbox_at(netbox.url).probe()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(HTML, id="HTML"),
        pytest.param(listing({"id": 5}), id="an id that is a number"),
        pytest.param(listing({"id": "x" * 36}), id="an id that is no UUID"),
        pytest.param(listing({"id": None}), id="no id"),
        pytest.param(listing([]), id="a device that is a list"),
    ],
)
async def test_answers_of_another_shape_from_nautobot(body: bytes) -> None:
    server = NautobotReplay()
    server.scripted += [NO_PLATFORMS, Answer(body=body)]
    try:
        with pytest.raises(InventoryFailed, match="Nautobot gave an answer that is not understood"):
            await walk(NautobotSource(access(server.url, NAUTOBOT_TOKEN), limits=quick(Waits())))
    finally:
        server.close()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(listing({"id": "1", "slug": "x"}), id="an id that is a text"),
        pytest.param(listing({"id": 1, "slug": "x" * 2000}), id="a slug of 2,000 characters"),
        pytest.param(listing({"id": 1, "slug": "x", "parent": 7}), id="a parent that is a number"),
    ],
)
async def test_platforms_of_another_shape(netbox: NetBoxReplay, body: bytes) -> None:
    netbox.scripted.append(Answer(body=body))
    with pytest.raises(InventoryFailed, match="NetBox gave an answer that is not understood"):
        await walk(netbox_at(netbox.url))


async def test_a_server_that_pages_by_nothing_is_noticed(netbox: NetBoxReplay) -> None:
    """Stop a walk of a server that ignores `id__gt`: without the check it would never end."""
    page = listing(*({**DEVICE, "id": at} for at in range(1, 11)))
    netbox.scripted += [NO_PLATFORMS, Answer(body=page), Answer(body=page)]
    with pytest.raises(InventoryFailed, match="the next page has the devices of an earlier one"):
        await walk(netbox_at(netbox.url))


async def test_devices_that_come_twice_are_taken_once(netbox: NetBoxReplay) -> None:
    """Take them once: joins over tags repeat devices within a page, a proxy's cache across pages."""
    first = listing(*({**DEVICE, "id": at} for at in (1, 2, 2, 3)))
    second = listing(*({**DEVICE, "id": at} for at in (2, 3, 4, 4)), count=4)
    netbox.scripted += [NO_PLATFORMS, Answer(body=first), Answer(body=second)]
    found = await walk(netbox_at(netbox.url))
    assert [device.external_id for device in found.devices] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        pytest.param(400, b'{"site": ["Not a valid choice."]}', "site: Not a valid choice.", id="a form"),
        pytest.param(
            403, b'{"detail": "No \\u001b[31mpermission\\n at all"}', "No \\[31mpermission at all", id="ANSI"
        ),
        pytest.param(
            401, b'{"detail": "a token %s is bad"}' % V1_TOKEN.encode(), "a token \\*\\*\\* is", id="ours"
        ),
        pytest.param(404, HTML, "the answer has the status 404$", id="HTML"),
        pytest.param(400, b'{"detail": "' + b"x" * 5000 + b'"}', "x \\.\\.\\.$", id="a long one"),
        pytest.param(400, b"[" * 60_000, "does not accept the request$", id="60,000 levels"),
        pytest.param(204, b"", "the answer has the status 204$", id="no content"),
    ],
)
async def test_errors_are_quoted_with_care(netbox: NetBoxReplay, status: int, body: bytes, text: str) -> None:
    netbox.scripted += [NO_PLATFORMS, Answer(status=status, body=body)]
    with pytest.raises(InventoryFailed, match=text) as failure:
        await walk(netbox_at(netbox.url))
    assert len(failure.value.text) < 400
    assert failure.value.text.isprintable()
    assert V1_TOKEN not in failure.value.text
