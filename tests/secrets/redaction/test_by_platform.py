"""Lines as each platform writes them: what is marked as secret is hidden, every other word stays."""

import re
from pathlib import Path

import pytest

from netautod.secrets.redaction.patterns import HIDDEN
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.tables import over

ROWS = Path(__file__).parents[2] / "data" / "redaction" / "by_platform.txt"
_SECRET = re.compile("«(.*?)»")
_BETWEEN_WORDS = re.compile(r"[\s\"';,<>]+")


def sections() -> list[tuple[str, list[str]]]:
    begins = re.split(r"(?m)^## ", ROWS.read_text(encoding="utf-8"))[1:]
    return [(lines[0], [line for line in lines[1:] if line]) for lines in map(str.splitlines, begins)]


@pytest.fixture(scope="module")
def registry() -> PlatformRegistry:
    return PlatformRegistry()


@over(("platform", "lines"), [pytest.param(*item, id=item[0]) for item in sections()])
def test_every_secret_is_hidden_and_every_other_word_stays(
    registry: PlatformRegistry, platform: str, lines: list[str]
) -> None:
    wrong = []
    for line in lines:
        shown = redact(_SECRET.sub(r"\1", line), registry.get(platform))
        if _leaks(line, shown) or _lost(line, shown):
            wrong.append(shown)
    assert wrong == []


@over(
    "line",
    [
        "snmp-server user u g v3 auth sha {} priv aes 128 {}",
        "snmp-server user u g v3 auth md5 {}",
        " ip ospf message-digest-key 1 md5 {}",
        " ospf authentication-mode md5 1 plain {}",
        " key-string {}",
        "crypto isakmp key {} address 192.0.2.1",
        "radius-server host 192.0.2.1 key {}",
        "set psksecret {}",
        "Community name: {}",
    ],
)
def test_digits_alone_are_a_secret_like_any_other(registry: PlatformRegistry, line: str) -> None:
    shown = redact(line.replace("{}", "73915824"), registry.get("generic"))
    assert "73915824" not in shown
    assert shown.startswith(line.split("{}")[0])


def test_keys_in_the_last_column_of_a_table_are_hidden(registry: PlatformRegistry) -> None:
    shown = redact(
        "Keyring      Hostname/Address                            Preshared Key\n\n"
        "default      192.0.2.44                                  zebra1\n"
        "             branch.example.net                          zebra2\n"
        "\nsw1#show version\n",
        registry.get("cisco_ios"),
    )
    assert "zebra" not in shown
    assert "192.0.2.44" in shown
    assert "show version" in shown


@over(
    ("text", "stays"),
    [
        ('"community" : [\n{\n"name" : "zebra",\n"authorization" : "read-only"\n},', "read-only"),
        ('{\n"name" : "zebra",\n"authorization" : "read-only"\n}', "read-only"),
        ("<snmp>\n<community>\n<name>zebra</name>\n<authorization>read-only</authorization>", "read-only"),
    ],
)
def test_names_of_communities_of_junos_are_hidden(registry: PlatformRegistry, text: str, stays: str) -> None:
    shown = redact(text, registry.get("juniper_junos"))
    assert "zebra" not in shown
    assert stays in shown


def test_names_of_communities_of_bgp_stay(registry: PlatformRegistry) -> None:
    for text in (
        '"community" : [\n{\n"name" : "CUSTOMERS",\n"members" : ["65000:1"]\n}\n]',
        "<community>\n<name>CUSTOMERS</name>\n<members>65000:1</members>\n</community>",
    ):
        assert "CUSTOMERS" in redact(text, registry.get("juniper_junos"))


def _leaks(line: str, shown: str) -> bool:
    readable = _SECRET.sub("", line)
    secrets = [secret.strip('"') for secret in _SECRET.findall(line)]
    if secrets and HIDDEN not in shown:
        return True
    return any(
        secret not in readable and re.search(rf"(?<![\w$]){re.escape(secret)}(?!\w)", shown)
        for secret in secrets
        if secret
    )


def _lost(line: str, shown: str) -> bool:
    if "«" not in line:
        return shown != line
    parts = re.split("«.*?»", line)
    return any(word not in shown for part in parts for word in _BETWEEN_WORDS.split(part))
