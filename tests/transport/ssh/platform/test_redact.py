"""Redacted texts: no secret of a platform, and none that only looks like one."""

import re
from pathlib import Path

import pytest

from netautod.network.configs.texts.normalise import normalise, secret_token
from netautod.secrets.redaction.patterns import HIDDEN
from netautod.testing import ios_config
from netautod.transport.ssh.platform.general_secrets import LAP, PIECE
from netautod.transport.ssh.platform.redact import quoted, redact
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.tables import over


@pytest.fixture(scope="module")
def registry() -> PlatformRegistry:
    return PlatformRegistry()


def test_a_configuration_keeps_its_lines_and_loses_its_secrets(registry: PlatformRegistry) -> None:
    config = ios_config("sw1")
    shown = redact(config, registry.get("cisco_ios"))
    for secret in ("hx5rVt7rPNoS4wqbXKX7m0", "s1mulated", "0822455D0A16", "13061E010803", "$9$"):
        assert secret in config
        assert secret not in shown
    assert shown.count("\n") == config.count("\n")
    assert f"snmp-server community {HIDDEN} RO\n" in shown
    assert "interface GigabitEthernet1/0/24\n description access port 24\n" in shown


@over(
    ("line", "secret"),
    [
        ("set system login password hunter2", "hunter2"),
        ("  password: hunter2", "hunter2"),
        ("password = 'hunter 2'", "hunter 2"),
        ('set secret "hunter 2" comment', "hunter 2"),
        ("pre-shared-key hunter2", "hunter2"),
        ("set psksecret ENC hunter2", "hunter2"),
        ("key 7 0822455D", "0822455D"),
        ("snmp-agent community read cipher hunter2", "hunter2"),
        ("snmp-agent community write hunter2", "hunter2"),
        ("security wpa psk set-key ascii 0 hunter2", "hunter2"),
        ("set system login user x plain-text-password-value hunter2", "hunter2"),
        ("  path scp://bob:hunter2@192.0.2.1/f", "hunter2"),
        (" standby 1 authentication hunter2", "hunter2"),
        (" glbp 1 authentication text hunter2", "hunter2"),
        (" ip nhrp authentication hunter2", "hunter2"),
        ("snmp-server host 192.0.2.1 vrf mgmt informs version 2c hunter2", "hunter2"),
        ("snmp-server host 192.0.2.1 version 1 hunter2", "hunter2"),
        ("snmp-server host 192.0.2.1 traps version 3 priv hunter2", "hunter2"),
        ("snmp-server user bob grp v3 auth sha hunter2 priv aes 128 hunter3", "hunter3"),
        ("api_token=hunter2", "hunter2"),
        ("root:$6$salt$abcdefg:19000:0", "$6$salt$abcdefg"),
        ('encrypted "$5$salt$abc";', "$5$salt$abc"),
    ],
)
def test_the_net_catches_what_no_platform_names(registry: PlatformRegistry, line: str, secret: str) -> None:
    shown = redact(line, registry.get("linux"))
    assert secret not in shown
    assert HIDDEN in shown


# The word behind which each secret stands, and what may stand between them.
WORDS = re.findall(
    r"\S+",
    """
    password passwords passwd passphrase pass-phrase passkey password-hash password-value password-admin phash
    secret community psk psksecret pre-shared-key shared-secret key-string authentication-key encryption-key
    auth-password priv-password auth-key auth-pwd priv-pwd private-key api-key apikey token key ciphertext
    plaintext
    """,
)
BETWEEN = re.findall(
    r"\S+",
    """
    encrypted hash cipher irreversible-cipher simple plain-text plaintext ENC md5 sha sha1 ascii
    ascii-text local remote 0 7 15
    """,
)


@over("before", ["", "set ", "radius-", "x_", "x.", '"'])
@over("word", WORDS)
def test_a_word_announces_the_secret_behind_it(registry: PlatformRegistry, before: str, word: str) -> None:
    for line in (f"{before}{word} ", f"{before}{word.upper()}: ", f"{before}{word} = "):
        assert quoted(f"{line}hunter2 end") == f"{line}{HIDDEN} end"  # without a platform
        assert "hunter2" not in redact(f"{line}hunter2 end", registry.get("linux"))


@over("between", BETWEEN)
def test_the_kind_of_a_secret_is_not_taken_for_it(between: str) -> None:
    assert quoted(f"password {between} hunter2 end") == f"password {between} {HIDDEN} end"
    assert quoted(f"password {between} 7 hunter2") == f"password {between} 7 {HIDDEN}"


@over("kind", ["1", "2a", "2b", "2x", "2y", "5", "6", "8", "9", "14", "y", "sha1", "sha512"])
def test_a_hash_of_any_kind_is_hidden(registry: PlatformRegistry, kind: str) -> None:
    assert redact(f'bob "${kind}$salt$abc";', registry.get("generic")) == f'bob "{HIDDEN}";'


@over("auth", ["md5", "sha", "sha256", "sha-512", "SHA"])
@over("priv", ["3des", "des", "des56", "aes", "aes 128", "aes-256"])
@over("form", ["", "encrypted ", "clear ", "key 7 "])
def test_the_keys_of_an_snmp_user(registry: PlatformRegistry, auth: str, priv: str, form: str) -> None:
    line = f"snmp user bob auth {auth} {form}§ priv {priv} {form}§ end"
    shown = redact(line.replace("§", "hunter2"), registry.get("generic"))
    assert shown == line.replace("§", HIDDEN)


# What people type, and no configuration holds.
ONLY_TYPED = ("user bob pass §", "ena sec 0 §", "ena pas §", "snmp-server comm § ro", "snmp-s comm § ro",
              "crypto key import rsa x terminal §")  # fmt: skip


def lines_of_devices() -> list[str]:
    listed = (Path(__file__).parents[3] / "data" / "commands" / "secret.txt").read_text()
    _, _, of_devices = listed.partition("# Cisco IOS")
    lines = [line for line in of_devices.splitlines()[1:] if line and not line.startswith("#")]
    return [line for line in lines if line not in ONLY_TYPED]


@over("line", lines_of_devices())
def test_readers_of_configurations_see_no_secret_of_a_known_line(
    registry: PlatformRegistry, line: str
) -> None:
    shown = redact(line.replace("§", "zebra9x"), registry.for_readers)
    assert "zebra" not in shown
    assert HIDDEN in shown


def test_a_private_key_is_hidden_whole(registry: PlatformRegistry) -> None:
    text = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nxyz\n-----END RSA PRIVATE KEY-----\nb\n"
    shown = redact(text, registry.get("generic"))
    assert "MIIabc" not in shown
    assert shown.startswith("a\n-----BEGIN RSA PRIVATE KEY-----\n")
    assert shown.endswith("-----END RSA PRIVATE KEY-----\nb\n")


@over(
    "line",
    [
        "hostname sw1",
        "ip route 0.0.0.0 0.0.0.0 192.0.2.1",
        "no service pad",
        "archive path http://192.0.2.1:8080/a@b",
        "snmp-server host 192.0.2.1 version",
        " standby 1 authentication md5",
        "monkey 7 business",
        "price $1$",
    ],
)
def test_ordinary_lines_stay(registry: PlatformRegistry, line: str) -> None:
    assert redact(line, registry.get("generic")) == line


def test_tokens_stay_so_that_a_diff_shows_a_changed_password(registry: PlatformRegistry) -> None:
    ios = registry.get("cisco_ios")
    key = b"k" * 32
    text = redact(normalise("enable secret 5 $1$a$b\n password 7 08\n", ios, key), ios)
    assert text == f"enable secret 5 {secret_token('$1$a$b', key)}\n password 7 {secret_token('08', key)}\n"


@over("before", [PIECE - LAP - 9, PIECE - LAP, PIECE - 20, PIECE - 9, PIECE, 3 * PIECE])
@over(
    "secret",
    [
        pytest.param("hunter2", id="a word"),
        pytest.param('"hunter2 hunter2"', id="two words in quotes"),
        pytest.param("hunter2" * 1000, id="one that is longer than a piece"),
        pytest.param('"' + "hunter2 " * 1000 + '"', id="a long one in quotes"),
    ],
)
def test_a_long_line_loses_its_secrets_wherever_they_stand(
    registry: PlatformRegistry, before: int, secret: str
) -> None:
    line = "abc " * (before // 4) + f"password {secret} end"
    shown = redact(line, registry.for_readers)
    assert shown == line.replace(secret, HIDDEN)


@over(
    "line",
    [
        " lsp-password hmac-md5 encrypted hunter2",
        "snmp-agent usm-user v3 x authentication-mode sha hunter2",
        "password manager sha1 hunter2",
    ],
)
def test_no_platform_is_needed_to_hide_what_is_announced(registry: PlatformRegistry, line: str) -> None:
    for name in registry.names():
        assert "hunter2" not in redact(line, registry.get(name))


def test_readers_see_no_secret_of_any_platform(registry: PlatformRegistry) -> None:
    """Hide them whatever the device_type is: where only the platform shows that it is a secret."""
    line = ' "0123456789abcdef0123"'
    assert "0123" not in redact(line, registry.get("hp_procurve"))
    assert "0123" in redact(line, registry.get("linux"))
    assert "0123" not in redact(line, registry.for_readers)


def test_a_platform_that_comes_later_is_known_to_readers(tmp_path: Path) -> None:
    registry = PlatformRegistry()
    line = "zebra crossing"
    assert redact(line, registry.for_readers) == line
    own = tmp_path / "own.toml"
    secret = "[[secrets]]\npattern = 'zebra (?P<secret>\\S+)'\nshown = \"stable\"\n"
    head = 'name = "own"\nchannel = "exec"\nsources = ["its maker"]\n'
    own.write_text(f'{head}[capture]\nitems = [{{ command = "a" }}]\n{secret}')
    registry.register(own)
    assert redact(line, registry.for_readers) == f"zebra {HIDDEN}"


def test_what_a_failure_quotes_holds_no_secret_of_the_platform(registry: PlatformRegistry) -> None:
    line = "password manager sha1 hunter2"
    assert quoted(f"  {line}  ", registry.get("hp_procurve")) == f"password manager sha1 {HIDDEN}"
    assert quoted("snmp-server community hunter2 RO") == f"snmp-server community {HIDDEN} RO"
    assert quoted("x" * 200, most=10) == "x" * 10


def test_of_a_long_text_no_more_is_looked_at_than_is_quoted() -> None:
    line = "http://a:" * 1_000_000  # whoever looks at all of it never ends
    assert quoted(line) == line[:120]
