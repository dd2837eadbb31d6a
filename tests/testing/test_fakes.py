"""The stand-ins of `netautod.testing` for a service: a fake client, a fake context, a server."""

import json
import ssl
import urllib.error
from typing import Any

import pytest

from netautod.core.errors import Forbidden
from netautod.plugin_api import (
    AddressRefused,
    DeviceResult,
    OutboundRequest,
    RequestFailed,
    RunContext,
    ToolContext,
)
from netautod.testing import (
    FakeGuardedClient,
    FakeRunContext,
    LocalServer,
    RunDevice,
    ServiceClient,
    http_answer,
)

URL = "https://x.example/a"


def request_to(url: str = URL, method: str = "GET") -> OutboundRequest:
    return OutboundRequest(url=url, method=method)


async def test_an_answer_by_url_and_by_method() -> None:
    http = FakeGuardedClient({URL: http_answer("both"), f"POST {URL}": http_answer(json=[1], status=201)})
    assert (await http.fetch(request_to())).body == b"both"
    posted = await http.fetch(request_to(method="POST"))
    assert (posted.status, posted.json()) == (201, [1])
    assert [request.method for request in http.requests] == ["GET", "POST"]


@pytest.mark.parametrize(
    ("url", "text"),
    [
        pytest.param("https://x.example/b", "is not among the answers", id="another path"),
        pytest.param("https://y.example/a", "is not among the answers", id="another server"),
        pytest.param("ftp://x.example/a", "must begin with", id="no URL of the web"),
    ],
)
async def test_what_is_not_listed_is_refused(url: str, text: str) -> None:
    with pytest.raises(AddressRefused, match=text):
        await FakeGuardedClient({URL: http_answer()}).fetch(request_to(url))


async def test_the_check_of_an_address() -> None:
    http = FakeGuardedClient({f"POST {URL}": http_answer()})
    await http.check("https://x.example/other")
    with pytest.raises(AddressRefused):
        await http.check("https://y.example/a")


async def test_answers_that_are_used_up_and_failures() -> None:
    away = RequestFailed("away", kind="connect")
    http = FakeGuardedClient({URL: [away, lambda request: http_answer(request.method)]})
    with pytest.raises(RequestFailed, match="away"):
        await http.fetch(request_to())
    assert (await http.fetch(request_to())).body == b"GET"
    with pytest.raises(AssertionError, match="once more than there are answers"):
        await http.fetch(request_to())


async def test_a_guard_is_called_and_the_requests_are_the_same() -> None:
    class Over(Exception):
        pass

    def guard() -> None:
        raise Over

    http = FakeGuardedClient({URL: http_answer()})
    await http.under(lambda: None).fetch(request_to())
    with pytest.raises(Over):
        await http.under(guard).fetch(request_to())
    assert len(http.requests) == 1


async def test_a_context() -> None:
    http = FakeGuardedClient({URL: http_answer("x")})
    made = FakeRunContext({"a": 1}, devices=[RunDevice(name="sw1", responses={"x": "y"})], http=http)
    context: RunContext = made
    [device] = [device async for device in context.acting.devices()]
    assert (await context.acting.run_command(device.id, "x")).output == "y"
    await context.log("info", "text", device.id)
    await context.progress(1, 2)
    result = DeviceResult(device_id=device.id, device_name="sw1", success=True, duration_ms=1, changed=True)
    await context.results.record(result)
    assert await context.results.settled() == {device.id}
    assert (await context.results.totals()).changed == 1
    assert (await context.http.fetch(request_to())).body == b"x"
    assert (made.progressed, made.results.kept) == ((1, 2), {device.id: result})
    assert [(line.level, line.text, line.device_id) for line in made.lines] == [("info", "text", device.id)]
    assert (context.parameters, context.execution.attempt, context.approval) == ({"a": 1}, 1, None)


async def test_a_context_knows_the_permissions_of_the_owner() -> None:
    context = FakeRunContext(devices=[RunDevice()], permissions=["devices.access"])
    [device] = [device async for device in context.acting.devices()]
    with pytest.raises(Forbidden):
        await context.acting.run_command(device.id, "x")
    with pytest.raises(ValueError, match="level is one of"):
        await context.log("notice", "x")


async def test_a_context_for_a_tool() -> None:
    made = FakeRunContext()
    context: ToolContext = made
    context.admit("d1")
    assert made.admitted == ["d1"]
    with pytest.raises(AddressRefused):
        await context.http.fetch(request_to())


def test_a_server_on_this_machine() -> None:
    def echoed(request: Any) -> Any:
        return http_answer(json={"got": request.json, "as": request.headers["x-a"]}, status=202)

    with LocalServer({"/list": [1], "PUT /echo": echoed}) as server:
        client = ServiceClient(url=server.url)
        assert client.get("/list?a=b").json == [1]
        put = client.request("PUT", "/echo", {"b": 2}, headers={"X-A": "c"})
        assert (put.status, put.json) == (202, {"got": {"b": 2}, "as": "c"})
        assert client.get("/echo").status == 404
        assert client.delete("/gone").json is None
    assert [(one.method, one.path) for one in server.requests][:2] == [("GET", "/list?a=b"), ("PUT", "/echo")]
    assert json.loads(server.requests[1].body) == {"b": 2}
    with pytest.raises(urllib.error.URLError, match="refused"):
        client.get("/list")


def test_a_server_with_tls_names_it() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with LocalServer({}, tls=context) as server:
        assert server.url == f"https://127.0.0.1:{server.port}"


def test_a_login_that_is_refused_is_a_failure_of_the_test() -> None:
    with LocalServer({"/api/auth/login": http_answer(json={"error": "no"}, status=401)}) as server:
        with pytest.raises(AssertionError, match="the login of ada is answered 401"):
            ServiceClient(url=server.url).login("ada", "x")
        with pytest.raises(AssertionError, match="is answered 404"):
            ServiceClient(url=server.url).run_task("ask")
