"""The names of this machine by its files, and the names that a listener is called by."""

import pytest

from netautod.core.net.host_names import HostNames, is_name, machine_names, names_in
from netautod.core.settings.field import SettingsError
from netautod.http.settings import ServerSettings

HOSTS = """127.0.0.1 localhost
# 127.0.1.1 commented
127.0.1.1\tcore.example.net core  # the machine
192.0.2.9 other.example.net other
192.0.2.10 Core alias.example.net.
"""


@pytest.mark.parametrize(
    ("hostname", "hosts", "resolver", "names"),
    [
        pytest.param("core", "", "", {"core"}, id="a short name"),
        pytest.param("Core.Example.net", "", "", {"core.example.net", "core"}, id="a complete name"),
        pytest.param(
            "core", HOSTS, "", {"core", "core.example.net", "alias.example.net"}, id="aliases of hosts(5)"
        ),
        pytest.param(
            "core",
            "",
            "nameserver 192.0.2.53\nsearch example.net lab.example.\noptions edns0",
            {"core", "core.example.net", "core.lab.example"},
            id="domains of resolv.conf(5)",
        ),
        pytest.param("core", "", "domain example.net", {"core", "core.example.net"}, id="its domain"),
        pytest.param("", HOSTS, "search example.net", set(), id="a machine without a name"),
    ],
)
def test_the_names_of_a_machine(hostname: str, hosts: str, resolver: str, names: set[str]) -> None:
    assert names_in(hostname, hosts, resolver) == names


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("netautod.example", True),
        ("Node_1.internal.", True),
        ("a", True),
        ("", False),
        (".", False),
        ("a..b", False),
        ("-a", False),
        ("a b", False),
        ("a:80", False),
        ("http://a", False),
        ("*.example.net", False),
        ("ä.example", False),
        ("a" * 254, False),
    ],
)
def test_the_form_of_a_name(text: str, right: bool) -> None:
    assert is_name(text) is right


PROXY = ("192.0.2.1",)


@pytest.mark.parametrize(
    ("server", "listening_on", "names"),
    [
        pytest.param(
            ServerSettings(),
            "127.0.0.1",
            HostNames(names=machine_names() | {"localhost"}, any_of_proxies=True),
            id="the default",
        ),
        pytest.param(
            ServerSettings(behind_proxy=True, trusted_proxies=PROXY),
            "127.0.0.1",
            HostNames(names=machine_names() | {"localhost"}, any_of_proxies=True),
            id="behind a proxy on the machine",
        ),
        pytest.param(ServerSettings(), "0.0.0.0", HostNames(any_name=True), id="beyond loopback"),
        pytest.param(ServerSettings(), "node1.example", HostNames(any_name=True), id="beyond, by a name"),
        pytest.param(
            ServerSettings(behind_proxy=True), "127.0.0.1", HostNames(any_name=True), id="an unnamed proxy"
        ),
        pytest.param(
            ServerSettings(hosts=("Netautod.Example.", "other")),
            "0.0.0.0",
            HostNames(names=frozenset({"netautod.example", "other"})),
            id="what is set holds anywhere",
        ),
        pytest.param(
            ServerSettings(hosts=("a",), behind_proxy=True),
            "127.0.0.1",
            HostNames(names=frozenset({"a"})),
            id="and behind an unnamed proxy",
        ),
    ],
)
def test_the_names_of_a_listener(server: ServerSettings, listening_on: str, names: HostNames) -> None:
    assert server.host_names(listening_on) == names


def test_this_machine_has_names() -> None:
    assert all(is_name(one) for one in machine_names())


@pytest.mark.parametrize("entry", ["a:80", "http://a", "*", "", "a/b"])
def test_what_is_no_name_is_no_setting(entry: str) -> None:
    with pytest.raises(SettingsError, match=r"server\.hosts: "):
        ServerSettings(hosts=(entry,)).check()
    ServerSettings(hosts=("a.example", "192.0.2.1", "[::1]")).check()
