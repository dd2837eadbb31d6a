"""The provider `ldap` against servers that hang, drip, lie and hang up: bounded, and never in clear."""

import asyncio
import socket
import time
from collections.abc import Callable

import pytest

from netautod.plugin_api import ProviderUnavailable
from netautod_ldap import LdapSettings
from netautod_ldap.provider import LdapProvider
from tests.plugins.ldap.conftest import SearchSettings, authenticate
from tests.support.programs import slapd
from tests.support.programs.slapd import BASE, PASSWORD
from tests.support.servers.listener import listening


async def test_a_server_without_starttls_gets_no_password(searching: SearchSettings) -> None:
    received: list[bytes] = []

    def refuses(connection: socket.socket) -> None:
        while data := connection.recv(4096):
            received.append(data)
            # An ExtendedResponse with protocolError (2) and the message id of the request.
            answer = data[2 : 4 + data[3]] + bytes.fromhex("78070a010204000400")
            connection.sendall(bytes((0x30, len(answer))) + answer)

    with listening(refuses) as server, pytest.raises(ProviderUnavailable, match="startTLS failed"):
        await authenticate(searching(urls=(server.url,)), "ada", PASSWORD)
    sent = b"".join(received)
    assert b"1.3.6.1.4.1.1466.20037" in sent
    assert PASSWORD.encode() not in sent
    assert slapd.READER_PASSWORD.encode() not in sent


async def test_a_connection_that_breaks_is_not_opened_again_in_clear() -> None:
    received: list[bytes] = []

    def hangs_up(connection: socket.socket) -> None:
        received.append(connection.recv(4096))

    with listening(hangs_up) as server:
        settings = LdapSettings(urls=(server.url,), start_tls=False, base_dn=BASE)
        with pytest.raises(ProviderUnavailable):
            await authenticate(settings, "ada", PASSWORD)
        assert server.connections == 1
    assert PASSWORD.encode() not in b"".join(received)


def silent(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def dripping(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(b"\x30\x84\x00\x10\x00\x00")  # a message of a megabyte begins
    while True:
        connection.sendall(b"\x00")
        time.sleep(0.2)


def garbage(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 10)


def wrong_message(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(bytes.fromhex("300c02010961070a010004000400"))  # an answer to message 9


def broken_ber(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(bytes.fromhex("300c0201016107ffffffffffffff"))


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(silent, id="silence"),
        pytest.param(dripping, id="a byte now and then"),
        pytest.param(garbage, id="another protocol"),
        pytest.param(wrong_message, id="an answer to something else"),
        pytest.param(broken_ber, id="an answer that cannot be decoded"),
    ],
)
@pytest.mark.parametrize("start_tls", [False, True])
async def test_servers_that_misbehave_cost_a_bounded_time(
    behaviour: Callable[[socket.socket], None], start_tls: bool
) -> None:
    with listening(behaviour) as server:
        settings = LdapSettings(urls=(server.url,), start_tls=start_tls, base_dn=BASE, timeout_seconds=1)
        with pytest.raises(ProviderUnavailable):
            await authenticate(settings, "ada", PASSWORD)


async def test_a_handshake_that_hangs(searching: SearchSettings) -> None:
    with listening(silent) as server:
        url = server.url.replace("ldap:", "ldaps:")
        with pytest.raises(ProviderUnavailable):
            await authenticate(searching(urls=(url,), timeout_seconds=1), "ada", PASSWORD)


async def test_the_event_loop_runs_on_while_the_server_hangs() -> None:
    with listening(silent) as server:
        settings = LdapSettings(urls=(server.url,), start_tls=False, base_dn=BASE, timeout_seconds=1)
        login = asyncio.create_task(authenticate(settings, "ada", PASSWORD))
        turns = 0
        while not login.done():
            await asyncio.sleep(0.01)
            turns += 1
        assert isinstance(login.exception(), ProviderUnavailable)
        assert turns > 30


async def test_more_logins_than_can_wait_are_turned_away() -> None:
    with listening(silent) as server:
        settings = LdapSettings(
            urls=(server.url,), start_tls=False, base_dn=BASE, timeout_seconds=1, threads=1
        )
        provider = LdapProvider(settings)
        logins = [asyncio.create_task(provider.authenticate("ada", PASSWORD)) for _ in range(70)]
        results = await asyncio.gather(*logins, return_exceptions=True)
        await provider.close()
    assert all(isinstance(result, ProviderUnavailable) for result in results)
    assert sum("too many" in str(result) for result in results) == 5
