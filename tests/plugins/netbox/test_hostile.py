"""The sources against servers that fail, throttle and attack; through the real guarded client."""

import asyncio
import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from netautod.plugin_api import AddressRefused, InventoryFailed, InventorySource, RequestFailed
from netautod_netbox import NautobotSource, NetBoxSource
from netautod_netbox.limits import seconds_to_wait
from tests.plugins.netbox.support import Waits, access, netbox, netbox_at, quick, walk
from tests.support.servers.inventory import HTML, Answer, json_answer, recorded
from tests.support.servers.netbox import V1_TOKEN, NetBoxReplay
from tests.transport.outbound.conftest import Behaviour, Serving, serving

__all__ = ["netbox", "serving"]
NO_PLATFORMS = json_answer({"count": 0, "results": []})
DEVICE = recorded("netbox", "dcim-devices-limit50-p1")["results"][0]
Open = Callable[..., InventorySource]


def busy(retry_after: str | None = None) -> Answer:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Answer(status=429, body=b'{"detail": "Request was throttled."}', headers=headers)


def broken(status: int = 502) -> Answer:
    return Answer(status=status, body=HTML, headers={"Content-Type": "text/html"})


# Passing failures


async def test_errors_of_the_server_are_tried_again_with_longer_waits(netbox: NetBoxReplay) -> None:
    netbox.scripted += [NO_PLATFORMS, broken(500), broken(502), broken(503)]
    waits = Waits()
    found = await walk(netbox_at(netbox.url, waits))
    assert len(found.ids) == 64
    assert waits.seconds == [0.5, 1.0, 2.0]


async def test_errors_that_stay_are_given_up(netbox: NetBoxReplay) -> None:
    netbox.scripted += [NO_PLATFORMS, *[broken(503)] * 4]
    waits = Waits()
    with pytest.raises(InventoryFailed, match="the answer has the status 503"):
        await walk(netbox_at(netbox.url, waits))
    assert waits.seconds == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("retry_after", "wait"),
    [
        pytest.param("7", 7.0, id="seconds"),
        pytest.param("0", 0.0, id="no seconds"),
        pytest.param("soon", 1.0, id="neither seconds nor a date"),
        pytest.param("Thu, 01 Jan 99999999999 00:00:00 GMT", 1.0, id="a date beyond all time"),
        pytest.param(None, 1.0, id="no header"),
        pytest.param("Thu, 01 Jan 1998 00:00:00 GMT", 0.0, id="a date that is over"),
    ],
)
async def test_a_throttling_server_is_obeyed(
    netbox: NetBoxReplay, retry_after: str | None, wait: float
) -> None:
    netbox.scripted += [NO_PLATFORMS, busy(retry_after)]
    waits = Waits()
    assert len((await walk(netbox_at(netbox.url, waits))).ids) == 64
    assert waits.seconds == [wait]


def test_a_retry_date_to_come() -> None:
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert seconds_to_wait(format_datetime(now + timedelta(seconds=40), usegmt=True), now=now) == 40.0
    assert seconds_to_wait("9" * 400, now=now) == 999_999_999.0


@pytest.mark.parametrize(
    ("answers", "waited"),
    [
        pytest.param([busy("3")] * 6, [3.0] * 5, id="a storm of them"),
        pytest.param([busy("86400")], [], id="a wait until tomorrow"),
    ],
)
async def test_throttling_without_end_is_given_up(
    netbox: NetBoxReplay, answers: list[Answer], waited: list[float]
) -> None:
    netbox.scripted += [NO_PLATFORMS, *answers]
    waits = Waits()
    with pytest.raises(InventoryFailed, match="longer pauses than a sync can make: Request was throttled"):
        await walk(netbox_at(netbox.url, waits))
    assert waits.seconds == waited


async def test_a_server_that_comes_back_while_we_wait(serving: Serving) -> None:
    """Retry: the connection is cut, then refused for a moment; nothing of it is an error in the end."""
    cut = 2

    async def flaky(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal cut
        if cut > 0:
            cut -= 1
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
            return
        body = json.dumps({"netbox-version": "4.1"} if b"/status/" in head else {"count": 0, "results": []})
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    waits = Waits()
    probed = await netbox_at(await serving(flaky), waits).probe()
    assert probed is not None
    assert waits.seconds == [0.5, 1.0]


async def test_pages_that_are_too_large_are_requested_smaller(netbox: NetBoxReplay) -> None:
    netbox.rows = [{**DEVICE, "id": at, "description": "x" * 900} for at in range(1, 1001)]
    source = NetBoxSource(access(netbox.url, V1_TOKEN), limits=quick(Waits()))
    found = await walk(source)
    assert len(found.ids) == 1000
    limits = [int(query["limit"][0]) for query in netbox.lists()]
    assert limits[:3] == [250, 1000, 500]


async def test_a_server_that_is_not_there() -> None:
    waits = Waits()
    with pytest.raises(RequestFailed, match="cannot be reached"):
        await netbox_at("http://127.0.0.1:1", waits).probe()
    assert waits.seconds == [0.5, 1.0, 2.0]


# Attacks


@pytest.mark.parametrize(
    "target",
    [
        pytest.param("http://127.0.0.2:{port}/api/status/", id="another host"),
        pytest.param("https://127.0.0.1:{port}/api/status/", id="another scheme"),
        pytest.param("gopher://127.0.0.1:{port}/", id="gopher"),
        pytest.param("file:///etc/passwd", id="a file"),
    ],
)
async def test_a_redirect_elsewhere_does_not_get_the_token(serving: Serving, target: str) -> None:
    heads: list[bytes] = []

    async def redirect(head: bytes, writer: asyncio.StreamWriter) -> None:
        heads.append(head)
        location = target.format(port=url.rpartition(":")[2])
        writer.write(f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())

    url = await serving(redirect)
    with pytest.raises(RequestFailed) as failure:
        await netbox_at(url).probe()
    assert failure.value.kind == "redirect"
    assert len(heads) == 1


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("gopher://127.0.0.1/", id="gopher"),
        pytest.param("file:///etc/passwd", id="a file"),
        pytest.param("http://169.254.169.254/latest/meta-data", id="the metadata service"),
        pytest.param("http://[::ffff:7f00:2]/", id="another loopback address, mapped"),
        pytest.param("http://2130706434/", id="another loopback address as a number"),
        pytest.param("http://user:secret@127.0.0.1/", id="a password"),
        pytest.param("http://127.0.0.1/?next=x", id="a query"),
        pytest.param("http://127.0.0.1/#/devices", id="a fragment"),
        pytest.param("http://[::1", id="half an address"),
        pytest.param("", id="nothing"),
    ],
)
async def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        await netbox_at(url).probe()


async def bomb(head: bytes, writer: asyncio.StreamWriter) -> None:
    packed = gzip.compress(bytes(20_000_000))
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    )


async def endless(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"4000\r\n" + bytes(0x4000) + b"\r\n")
        await writer.drain()


async def silence(head: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("behaviour", "kind", "tries"),
    [
        pytest.param(bomb, "encoding", 1, id="a gzip bomb is not unpacked"),
        pytest.param(endless, "answer", 4, id="chunks without end"),
        pytest.param(silence, "timeout", 1, id="silence takes all the time there is, once"),
    ],
)
async def test_hostile_servers_are_given_up(
    serving: Serving, behaviour: Behaviour, kind: str, tries: int
) -> None:
    seen = 0

    async def counted(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        await behaviour(head, writer)

    seconds = 3.0 if kind == "timeout" else 20.0
    with pytest.raises(RequestFailed) as failure:
        await netbox_at(await serving(counted), seconds=seconds).probe()
    assert (failure.value.kind, seen) == (kind, tries)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(HTML, 200, id="a login page"),
        pytest.param(HTML, 404, id="no such page"),
        pytest.param(b'{"version": "1"}', 200, id="another API"),
        pytest.param(b"[]", 200, id="a list"),
        pytest.param(b"[" * 100_000, 200, id="nested without end"),
    ],
)
@pytest.mark.parametrize("open_source", [NetBoxSource, NautobotSource])
async def test_some_other_system_is_not_ours(
    serving: Serving, open_source: Open, body: bytes, status: int
) -> None:
    async def other(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body)

    source = open_source(access(await serving(other), V1_TOKEN))
    assert await source.probe() is None


async def test_an_impossible_device_type_is_reported() -> None:
    server = NetBoxReplay()
    source = NetBoxSource(access(server.url, V1_TOKEN, device_types={"ios": "Cisco IOS"}))
    try:
        with pytest.raises(InventoryFailed, match="the device type of ios must consist of"):
            await source.probe()
    finally:
        server.close()
