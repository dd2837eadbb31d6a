"""The guarded client against hostile names, redirects and servers."""

import asyncio
import re
from collections.abc import Sequence

import pytest

from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient, OutboundRequest
from netautod.transport.outbound.errors import AddressRefused, RequestFailed
from tests.transport.outbound.conftest import Serving

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"


class Names:
    """A resolver of the test: each look-up of a name takes the next of its answers; the last one stays."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self._answers = {name.replace("_", "."): given for name, given in answers.items()}
        self.looked_up: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.looked_up.append(host)
        given = self._answers[host]
        return given.pop(0) if len(given) > 1 else given[0]


async def answer_ok(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(OK)


def port_of(url: str) -> str:
    return url.rpartition(":")[2]


async def test_an_answer_with_any_status_is_an_answer(client: GuardedClient, serving: Serving) -> None:
    async def missing(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b'HTTP/1.1 404 Not Found\r\nX-What: this\r\nContent-Length: 11\r\n\r\n{"a": [1]}\n')

    answer = await client.fetch(OutboundRequest(url=await serving(missing)))
    assert (answer.status, answer.headers.get("x-what"), answer.json()) == (404, "this", {"a": [1]})


async def test_what_is_sent(client: GuardedClient, serving: Serving) -> None:
    heads: list[bytes] = []

    async def note(head: bytes, writer: asyncio.StreamWriter) -> None:
        heads.append(head)
        writer.write(OK)

    url = await serving(note)
    headers = {"Authorization": "Token t"}
    await client.fetch(OutboundRequest(url=f"{url}/api?x=1", method="POST", headers=headers, body=b"abc"))
    lines = heads[0].decode().split("\r\n")
    assert lines[0] == "POST /api?x=1 HTTP/1.1"
    for line in ("Authorization: Token t", "Accept-Encoding: identity", "Content-Length: 3"):
        assert line in lines
    assert any(line.startswith("User-Agent: netautod/") for line in lines)


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("127.0.0.1", id="the plain address"),
        pytest.param("2130706433", id="one decimal number"),
        pytest.param("0177.0.0.1", id="octal"),
        pytest.param("0x7f.1", id="hexadecimal and short"),
        pytest.param("127.1", id="short"),
        pytest.param("[::ffff:127.0.0.1]", id="IPv4-mapped"),
        pytest.param("[::ffff:7f00:1]", id="IPv4-mapped in hexadecimal"),
        pytest.param("[64:ff9b::127.0.0.1]", id="NAT64"),
        pytest.param("[::1]", id="IPv6"),
        pytest.param("0.0.0.0", id="the unspecified address"),
        pytest.param("[::]", id="the unspecified address of IPv6"),
        pytest.param("localhost", id="the name"),
        pytest.param("169.254.169.254", id="the metadata service"),
    ],
)
async def test_no_spelling_of_this_machine_is_reached(serving: Serving, host: str) -> None:
    reached: list[bytes] = []

    async def note(head: bytes, writer: asyncio.StreamWriter) -> None:
        reached.append(head)
        writer.write(OK)

    url = f"http://{host}:{port_of(await serving(note))}/"
    closed = GuardedClient(AddressRules())
    with pytest.raises(AddressRefused):
        await closed.fetch(OutboundRequest(url=url))
    with pytest.raises(AddressRefused):
        await closed.check(url)
    assert reached == []


async def test_one_refused_address_among_good_ones_refuses_the_name() -> None:
    client = GuardedClient(AddressRules(), lookup=Names(mixed_example=[["93.184.216.34", "127.0.0.1"]]))
    with pytest.raises(AddressRefused, match=r"127\.0\.0\.1"):
        await client.fetch(OutboundRequest(url="http://mixed.example/"))


@pytest.mark.parametrize(
    ("host", "text"),
    [
        pytest.param("127.0.0.1", "127.0.0.1 is a loopback address;", id="an address, once"),
        pytest.param(
            "in.example", "in.example (127.0.0.1) is a loopback address;", id="a name, with its address"
        ),
    ],
)
async def test_the_refusal_says_what_is_refused(host: str, text: str) -> None:
    client = GuardedClient(AddressRules(), lookup=Names(**{host: [["127.0.0.1"]]}))
    with pytest.raises(AddressRefused, match=f"^{re.escape(text)}"):
        await client.check(f"http://{host}/")


async def test_a_name_that_changes_its_address_after_the_check_is_connected_to_as_checked(
    serving: Serving,
) -> None:
    """Prevent DNS rebinding: the first answer is checked and connected to, the second one is never
    asked for.
    """
    names = Names(rebind_example=[["127.0.0.1"], ["127.0.0.2"]])
    client = GuardedClient(AddressRules.allowing(["127.0.0.1"]), lookup=names)
    port = port_of(await serving(answer_ok))
    answer = await client.fetch(OutboundRequest(url=f"http://rebind.example:{port}/"))
    assert (answer.status, names.looked_up) == (200, ["rebind.example"])
    with pytest.raises(AddressRefused):
        await client.fetch(OutboundRequest(url=f"http://rebind.example:{port}/"))


async def test_a_stored_url_is_checked_again_at_its_use() -> None:
    names = Names(rebind_example=[["93.184.216.34"], ["169.254.169.254"]])
    client = GuardedClient(AddressRules(), lookup=names)
    await client.check("http://rebind.example/")
    with pytest.raises(AddressRefused):
        await client.fetch(OutboundRequest(url="http://rebind.example/"))


async def test_an_unknown_name() -> None:
    async def no_address(host: str, port: int) -> Sequence[str]:
        raise OSError("no such name")

    with pytest.raises(RequestFailed, match="cannot be resolved") as failure:
        await GuardedClient(AddressRules(), lookup=no_address).fetch(OutboundRequest(url="http://x.example/"))
    assert failure.value.kind == "dns"


async def test_a_silent_name_server_is_given_up() -> None:
    async def silent(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    client = GuardedClient(AddressRules(), lookup=silent)
    with pytest.raises(RequestFailed) as failure:
        await client.fetch(OutboundRequest(url="http://x.example/", timeout_seconds=0.1))
    assert failure.value.kind == "timeout"


async def test_a_redirect_within_the_server_is_followed(client: GuardedClient, serving: Serving) -> None:
    heads: list[bytes] = []

    async def redirect(head: bytes, writer: asyncio.StreamWriter) -> None:
        heads.append(head)
        moved = b"HTTP/1.1 301 Moved\r\nLocation: /new?q=1\r\nContent-Length: 0\r\n\r\n"
        writer.write(OK if b"/new" in head else moved)

    url = await serving(redirect)
    answer = await client.fetch(OutboundRequest(url=f"{url}/old", headers={"Authorization": "Token t"}))
    assert answer.status == 200
    assert b"GET /new?q=1 " in heads[1]
    assert b"Token t" in heads[1]


@pytest.mark.parametrize(
    "location",
    [
        pytest.param("http://other.example/", id="another host"),
        pytest.param("//other.example/", id="another host without scheme"),
        pytest.param("http://127.0.0.1:1/", id="another port"),
        pytest.param("https://127.0.0.1:{port}/", id="another scheme"),
        pytest.param("http://127.0.0.2:{port}/", id="another address of this machine"),
        pytest.param("http://127.1:{port}/", id="the same address spelt otherwise"),
        pytest.param("http://user@127.0.0.1:{port}/", id="a user name"),
        pytest.param("http://169.254.169.254/latest/meta-data/", id="the metadata service"),
        pytest.param("file:///etc/passwd", id="a file"),
        pytest.param("gopher://127.0.0.1:{port}/", id="another protocol"),
        pytest.param("http://[", id="a malformed URL"),
        pytest.param("/again", id="itself, without end"),
    ],
)
async def test_redirects_that_are_not_followed(
    client: GuardedClient, serving: Serving, location: str
) -> None:
    seen: list[bytes] = []

    async def redirect(head: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(head)
        target = location.format(port=port_of(url))
        writer.write(f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode())

    url = await serving(redirect)
    with pytest.raises(RequestFailed) as failure:
        await client.fetch(OutboundRequest(url=url + "/"))
    assert failure.value.kind == "redirect"
    assert len(seen) == (6 if location == "/again" else 1)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("method", "followed"),
    [("GET", True), ("HEAD", True), ("POST", False), ("PUT", False), ("PATCH", False), ("DELETE", False)],
)
async def test_only_what_changes_nothing_is_sent_again_to_where_a_redirect_points(
    client: GuardedClient, serving: Serving, method: str, followed: bool, status: int
) -> None:
    seen: list[bytes] = []

    async def redirect(head: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(head.split(b" HTTP")[0])
        moved = f"HTTP/1.1 {status} Moved\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n".encode()
        writer.write(b"HTTP/1.1 204 Done\r\n\r\n" if b"/there" in head else moved)

    body = None if followed else b"code=x"
    request = OutboundRequest(url=await serving(redirect), method=method, body=body)
    if followed:
        assert (await client.fetch(request)).status == 204
        assert seen == [f"{method} /".encode(), f"{method} /there".encode()]
        return
    with pytest.raises(RequestFailed, match=f"^A {method} request was answered by a redirect") as failure:
        await client.fetch(request)
    assert (failure.value.kind, seen) == ("redirect", [f"{method} /".encode()])


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"304 Not Modified\r\nLocation: /there", id="a status that is no redirect"),
        pytest.param(b"201 Created\r\nLocation: /there", id="where a new thing stands"),
        pytest.param(b"302 Found", id="a redirect to nowhere"),
    ],
)
async def test_what_is_no_redirect_is_an_answer(
    client: GuardedClient, serving: Serving, answer: bytes
) -> None:
    async def respond(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 " + answer + b"\r\nContent-Length: 0\r\n\r\n")

    got = await client.fetch(OutboundRequest(url=await serving(respond)))
    assert str(got.status).encode() == answer[:3]


@pytest.mark.parametrize(("redirects", "followed"), [(5, True), (6, False)])
async def test_five_redirects_are_followed(
    client: GuardedClient, serving: Serving, redirects: int, followed: bool
) -> None:
    async def redirect(head: bytes, writer: asyncio.StreamWriter) -> None:
        left = int(head.split()[1][1:])
        moved = f"HTTP/1.1 302 Found\r\nLocation: /{left - 1}\r\nContent-Length: 0\r\n\r\n".encode()
        writer.write(moved if left else OK)

    request = OutboundRequest(url=f"{await serving(redirect)}/{redirects}")
    if followed:
        assert (await client.fetch(request)).status == 200
        return
    with pytest.raises(RequestFailed, match="redirects without end"):
        await client.fetch(request)


async def test_a_server_that_cannot_be_connected_to_is_given_up_before_the_time_for_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def silent(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr("netautod.transport.outbound.client.CONNECT_SECONDS", 0.1)
    client = GuardedClient(AddressRules(), lookup=silent)
    with pytest.raises(RequestFailed) as failure:
        async with asyncio.timeout(30):
            await client.fetch(OutboundRequest(url="http://x.example/", timeout_seconds=60))
    assert failure.value.kind == "timeout"
    with pytest.raises(RequestFailed, match=r"within 0\.1 seconds"):
        await client.check("http://x.example/")


@pytest.mark.parametrize("size", [0, 1, 65_000, 100_000, 1_000_000])
async def test_an_answer_of_any_size_up_to_the_limit_is_read(
    client: GuardedClient, serving: Serving, size: int
) -> None:
    async def full(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX-Filler: %s\r\n" % (b"x" * 60_000))
        writer.write(b"Content-Length: %d\r\n\r\n" % size + bytes(size))

    answer = await client.fetch(OutboundRequest(url=await serving(full), max_bytes=size))
    assert len(answer.body) == size


async def test_a_server_that_is_not_there(client: GuardedClient) -> None:
    with pytest.raises(RequestFailed, match="cannot be reached") as failure:
        await client.fetch(OutboundRequest(url="http://127.0.0.1:1/"))
    assert failure.value.kind == "connect"


async def test_an_answer_that_is_no_json(client: GuardedClient, serving: Serving) -> None:
    async def html(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>")

    answer = await client.fetch(OutboundRequest(url=await serving(html)))
    with pytest.raises(RequestFailed, match="JSON"):
        answer.json()


async def test_a_guard_stands_before_every_request(client: GuardedClient, serving: Serving) -> None:
    names: list[bytes] = []

    async def redirecting(head: bytes, writer: asyncio.StreamWriter) -> None:
        names.append(head)
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n")

    def guard() -> None:
        if names:
            raise LookupError("over")

    url = await serving(redirecting)
    with pytest.raises(LookupError, match="over"):
        await client.under(guard).fetch(OutboundRequest(url=url))
    assert len(names) == 1
