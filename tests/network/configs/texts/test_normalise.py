"""Normalised texts: an idle device stays equal, one real change does not."""

from pathlib import Path

import pytest

from netautod.network.configs.texts.normalise import normalise, secret_token
from netautod.testing import ios_config
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.tables import over

_KEY = b"k" * 32


@pytest.fixture(scope="module")
def registry() -> PlatformRegistry:
    return PlatformRegistry()


_REGISTRY = PlatformRegistry()


@pytest.fixture(scope="module")
def ios(registry: PlatformRegistry) -> Platform:
    return registry.get("cisco_ios")


@pytest.fixture(scope="module")
def linux(registry: PlatformRegistry) -> Platform:
    return registry.get("linux")


def test_two_reads_of_an_idle_switch_are_equal(ios: Platform) -> None:
    first = ios_config("sw1", clock_period=17179738)
    second = ios_config("sw1", clock_period=17179801, changed_at="07:00:00 UTC Sat Nov 21 2026 by admin")
    assert first != second
    assert normalise(first, ios, _KEY) == normalise(second, ios, _KEY)


@over("name", [name for name in _REGISTRY.names() if _REGISTRY.get(name).log_lines])
def test_an_edit_of_a_quoted_log_line_is_a_change(name: str) -> None:
    """Those that a device prints into a session are gone before (undisturbed.py); these are configuration."""
    quoted = "Nov 23 2026 03:00:00 sw1 %BGP-5-ADJCHANGE: neighbor 192.0.2.1 {}"
    before, after = (f"banner motd #\n{quoted.format(way)}\n#\nend\n" for way in ("up", "down"))
    platform = _REGISTRY.get(name)
    assert normalise(before, platform, _KEY) != normalise(after, platform, _KEY)


@over(
    ("old", "new"),
    [
        pytest.param("description access port 7", "description uplink", id="a description"),
        pytest.param("hx5rVt7rPNoS4wqbXKX7m0", "aaaaaaaaaaaaaaaaaaaaaa", id="the enable secret"),
        pytest.param("community s1mulated", "community other", id="an SNMP community"),
        pytest.param("key 7 0822455D0A16", "key 7 1234567890AB", id="a TACACS key"),
        pytest.param("password 7 13061E010803", "password 7 09", id="a line password"),
        pytest.param("0123456789abcdef", "fedcba9876543210", id="a user's secret"),
        pytest.param("ntp server 192.0.2.123", "ntp server 192.0.2.124", id="an NTP server beside the noise"),
        pytest.param("interface GigabitEthernet1/0/24\n", "", id="a line that is gone"),
    ],
)
def test_one_change_is_a_change(ios: Platform, old: str, new: str) -> None:
    before = ios_config("sw1")
    after = before.replace(old, new)
    assert before != after
    assert normalise(before, ios, _KEY) != normalise(after, ios, _KEY)


@over(
    ("line", "secret"),
    [
        ("enable secret 9 $9$abc$def", "$9$abc$def"),
        ("enable password level 5 7 070C285F4D06", "070C285F4D06"),
        ("username bob privilege 15 secret 5 $1$x$y", "$1$x$y"),
        ("username bob password 0 clear", "clear"),
        ("snmp-server community s3cr3t RO 10", "s3cr3t"),
        ("snmp-server host 10.0.0.1 version 2c s3cr3t", "s3cr3t"),
        ("snmp-server host 10.0.0.1 vrf mgmt traps version 2c s3cr3t bgp", "s3cr3t"),
        ("snmp-server host 10.0.0.1 s3cr3t", "s3cr3t"),
        ("tacacs-server host 10.0.0.1 key 7 0822", "0822"),
        ("radius-server key 7 0822", "0822"),
        (" key 7 0822455D", "0822455D"),
        (" key s3cr3t", "s3cr3t"),
        ("  key-string 7 0822", "0822"),
        ("crypto isakmp key s3cr3t address 10.0.0.1", "s3cr3t"),
        (" ip ospf message-digest-key 1 md5 7 0822", "0822"),
        (" ip ospf authentication-key 7 0822", "0822"),
        (" neighbor 10.0.0.1 password 7 0822", "0822"),
        (" standby 1 authentication md5 key-string 7 0822", "0822"),
        (" ppp chap password 7 0822", "0822"),
        ("   wpa-psk ascii 7 0822", "0822"),
        ("ntp authentication-key 1 md5 0822 7", "0822"),
        (" isis password 0822 level-2", "0822"),
        (" ip nhrp authentication s3cr3t", "s3cr3t"),
        (" security wpa psk set-key ascii 0 s3cr3t", "s3cr3t"),
    ],
)
def test_secrets_of_ios_become_tokens(ios: Platform, line: str, secret: str) -> None:
    assert normalise(line, ios, _KEY) == line.replace(secret, secret_token(secret, _KEY)) + "\n"


@over("line", [" key 1", "key chain ospf", "ip ssh version 2", "snmp-server location x"])
def test_what_is_no_secret_stays(ios: Platform, line: str) -> None:
    assert normalise(line, ios, _KEY) == line + "\n"


def test_a_token_depends_on_the_key_of_the_organization() -> None:
    assert secret_token("s", _KEY) == secret_token("s", _KEY)
    assert secret_token("s", _KEY) != secret_token("s", b"o" * 32)
    assert "hunter2" not in secret_token("hunter2", _KEY)


def test_normalising_twice_changes_nothing(ios: Platform) -> None:
    once = normalise(ios_config("sw1"), ios, _KEY)
    assert normalise(once, ios, _KEY) == once


def test_a_resalted_secret_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "salty.toml"
    path.write_text(
        'name = "salty"\nchannel = "shell"\nsources = ["made up"]\n[prompts]\nexec = \'(?P<host>\\w+)>\'\n'
        '[capture]\nitems = [{ command = "show" }]\n'
        "[[secrets]]\npattern = '\\s*set password ENC (?P<secret>\\S+)'\nshown = \"resalted\"\n"
    )
    salty = PlatformRegistry().register(path)
    first = normalise("set password ENC AAAA\nset name x", salty, _KEY)
    assert first == normalise("set password ENC BBBB\nset name x", salty, _KEY)
    assert first == "set password ENC <secret>\nset name x\n"


_KEY_BLOCK = """\
    edit "one"
        set private-key "-----BEGIN ENCRYPTED PRIVATE KEY-----
MIIFHDBOsecretbody
-----END ENCRYPTED PRIVATE KEY-----"
        set name x
"""


def test_a_secret_of_several_lines_is_one_line(registry: PlatformRegistry) -> None:
    normal = normalise(_KEY_BLOCK, registry.get("fortinet"), _KEY)
    assert normal == '    edit "one"\n        set private-key <secret>\n        set name x\n'


def test_a_secret_that_does_not_end_hides_the_rest(registry: PlatformRegistry) -> None:
    """Rather too much than a key in clear."""
    torn = _KEY_BLOCK.partition("-----END")[0]
    fortinet = registry.get("fortinet")
    assert normalise(torn, fortinet, _KEY) == '    edit "one"\n        set private-key <secret>\n'
    assert "secretbody" not in redact(torn, fortinet)


def test_a_changed_secret_of_several_lines_is_a_change_where_it_is_stable(tmp_path: Path) -> None:
    path = tmp_path / "steady.toml"
    path.write_text(
        'name = "steady"\nchannel = "shell"\nsources = ["made up"]\n[prompts]\nexec = \'(?P<host>\\w+)>\'\n'
        '[capture]\nitems = [{ command = "show" }]\n'
        "[[secrets]]\npattern = 'key (?P<secret>BEGIN.*)'\nuntil = 'END'\nshown = \"stable\"\n"
    )
    steady = PlatformRegistry().register(path)
    one, two = (normalise(f"key BEGIN\n{body}\nEND;\nrest\n", steady, _KEY) for body in ("aa", "bb"))
    assert one != two
    assert one == f"key {secret_token(chr(10).join(('BEGIN', 'aa', 'END')), _KEY)};\nrest\n"


_ADDRESSES = """\
### command ip address show
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default qlen 1000
    inet 192.0.2.241/24 brd 192.0.2.255 scope global dynamic eth0
       valid_lft 3515sec preferred_lft 3515sec
### command ip -6 route show
default via fe80::1 dev eth0 proto ra metric 100 expires 1779sec pref medium
"""


def test_two_reads_of_an_idle_host_are_equal(linux: Platform) -> None:
    later = _ADDRESSES.replace("3515sec", "2514sec").replace("1779sec", "778sec")
    down = later.replace("<BROADCAST,MULTICAST,UP,LOWER_UP>", "<NO-CARRIER,BROADCAST,MULTICAST,UP>")
    down = down.replace("state UP", "state DOWN")
    assert normalise(_ADDRESSES, linux, _KEY) == normalise(later, linux, _KEY)
    assert normalise(_ADDRESSES, linux, _KEY) == normalise(down, linux, _KEY)


@over(
    ("old", "new"),
    [("192.0.2.241", "192.0.2.242"), ("mtu 1500", "mtu 9000"), ("via fe80::1", "via fe80::2")],
)
def test_a_change_of_a_host_is_a_change(linux: Platform, old: str, new: str) -> None:
    assert normalise(_ADDRESSES, linux, _KEY) != normalise(_ADDRESSES.replace(old, new), linux, _KEY)


def test_a_changed_wireless_password_of_a_host_is_a_change(linux: Platform) -> None:
    first, second = "    wpa-psk one two", "    wpa-psk one three"
    assert normalise(first, linux, _KEY) != normalise(second, linux, _KEY)
    assert "one" not in normalise(first, linux, _KEY)


def test_a_line_of_nothing_but_noise_leaves_no_gap(linux: Platform) -> None:
    assert "\n\n" not in normalise(_ADDRESSES, linux, _KEY)


def test_a_host_never_shows_its_password_hashes(linux: Platform) -> None:
    """They are not captured: no item reads /etc/shadow."""
    assert not [item.title for item in linux.capture if "shadow" in item.title]
