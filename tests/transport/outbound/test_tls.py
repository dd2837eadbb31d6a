"""The check of certificates by the guarded client."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

from netautod.transport.outbound.client import GuardedClient, OutboundRequest, TlsPolicy
from netautod.transport.outbound.errors import RequestFailed
from tests.support.servers.certificates import Authority
from tests.support.servers.http import serve


class Hello(RequestHandler):
    def get(self) -> None:
        self.write("hello")


class World:
    """A set of servers with certificates of one authority; `trusting` is the policy that trusts no other
    authority.
    """

    def __init__(self, folder: Path) -> None:
        self._ours = Authority(folder, "ours")
        self._other = Authority(folder, "other")
        self.policies = {
            "ours": TlsPolicy(ca_file=str(self._ours.file)),
            "other": TlsPolicy(ca_file=str(self._other.file)),
            "system": TlsPolicy(),
            "off": TlsPolicy(verify=False),
            "off, ours": TlsPolicy(verify=False, ca_file=str(self._ours.file)),
        }
        self.urls: dict[str, str] = {}
        self._servers: list[HTTPServer] = []
        for name, host, expired in (
            ("right", "127.0.0.1", False),
            ("another name", "netbox.example", False),
            ("expired", "127.0.0.1", True),
        ):
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(*self._ours.server(name.replace(" ", "-"), host, expired=expired))
            server, self.urls[name] = serve(Application([("/", Hello)]), tls=context)
            self._servers.append(server)

    def close(self) -> None:
        for server in self._servers:
            server.stop()


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    made = World(tmp_path_factory.mktemp("tls"))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("server", "policy", "trusted"),
    [
        pytest.param("right", "ours", True, id="its authority is given"),
        pytest.param("right", "system", False, id="nobody the system knows has signed it"),
        pytest.param("right", "other", False, id="the authority that is given has not signed it"),
        pytest.param("another name", "ours", False, id="it is another server's"),
        pytest.param("expired", "ours", False, id="it has expired"),
        pytest.param("right", "off", True, id="nothing is verified"),
        pytest.param("another name", "off", True, id="nothing is verified, another server's"),
        pytest.param("expired", "off", True, id="nothing is verified, expired"),
        pytest.param(
            "another name", "off, ours", True, id="nothing is verified, although there is an authority"
        ),
    ],
)
async def test_certificates(
    client: GuardedClient, world: World, server: str, policy: str, trusted: bool
) -> None:
    request = OutboundRequest(url=world.urls[server], tls=world.policies[policy])
    if trusted:
        assert (await client.fetch(request)).body == b"hello"
        return
    with pytest.raises(
        RequestFailed, match=r"^The certificate of https://127\.0\.0\.1:\d+ is not valid: "
    ) as failed:
        await client.fetch(request)
    assert failed.value.kind == "certificate"


async def test_a_request_that_verifies_nothing_does_not_vouch_for_the_next_one(
    client: GuardedClient, world: World
) -> None:
    url = world.urls["right"]
    for one in (client, client.under(lambda: None)):
        assert (await one.fetch(OutboundRequest(url=url, tls=world.policies["off"]))).status == 200
        with pytest.raises(RequestFailed, match="certificate"):
            await one.fetch(OutboundRequest(url=url))


@pytest.mark.parametrize("text", ["", "no certificate"])
async def test_a_file_of_authorities_that_cannot_be_read(
    client: GuardedClient, world: World, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "authorities.pem"
    if text:
        file.write_text(text)
    with pytest.raises(RequestFailed, match="trusted authorities cannot be read") as failed:
        await client.fetch(OutboundRequest(url=world.urls["right"], tls=TlsPolicy(ca_file=str(file))))
    assert failed.value.kind == "certificate"
