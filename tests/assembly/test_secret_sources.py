"""The places where secrets of settings may stand; none of the secrets is ever shown."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from netautod.assembly.configuration import Configuration, load
from netautod.core.logs import setup as logs
from netautod.core.settings.field import SettingsError, setting
from netautod.core.settings.reader import Reader
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.sections.secrets import filled
from netautod.secrets.redaction.known_secrets import KNOWN, hide_in_log
from netautod.secrets.vault.named_secrets import NamedSecrets
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database
from tests.support.clock import MovableClock

SECRET = "s3cr3t-of-the-plugin"


@dataclass(frozen=True, kw_only=True)
class Section:
    token: str = setting("", "A token.", secret=True)
    urls: tuple[str, ...] = setting((), "Secret addresses.", secret=True)
    name: str = setting("", "A name.")

    def check(self) -> None:
        if self.token and len(self.token) < 12:
            raise SettingsError("mine.token must have 12 characters at least")


def reader(folder: Path, text: str = "", **environment: str) -> Reader:
    file = folder / "netautod.toml"
    file.write_text(text)
    return Reader(file=file, environment=environment, flags={})


def stored(folder: Path, text: str = f"{SECRET}\n", name: str = "token") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_every_place_of_a_secret(tmp_path: Path) -> None:
    kept = stored(tmp_path)
    (tmp_path / "credentials").mkdir()
    stored(tmp_path / "credentials", name="mine.token")
    with_credential = {"CREDENTIALS_DIRECTORY": str(tmp_path / "credentials")}
    cases: list[tuple[str, dict[str, str], str]] = [
        (f'[mine]\ntoken = "{SECRET}"', {}, "settings file"),
        (f'[mine]\ntoken_file = "{kept}"', {}, "file of its own"),
        ("", {"NETAUTOD_MINE_TOKEN": SECRET}, "environment"),
        ("", {"NETAUTOD_MINE_TOKEN_FILE": str(kept)}, "file of its own"),
        ("", with_credential, "credential"),
        ('[mine]\ntoken = "the file counts less"', with_credential, "credential"),
        ("", {**with_credential, "NETAUTOD_MINE_TOKEN": SECRET}, "environment"),
    ]
    for text, environment, origin in cases:
        read = reader(tmp_path, text, **environment)
        assert read.section("mine", Section).token == SECRET
        assert read.origin("mine.token") == origin
        read.refuse_unknown()
        warnings: list[str] = []
        read.warn_of_variables(warnings.append)
        assert warnings == []


def test_a_list_of_secrets_in_a_file(tmp_path: Path) -> None:
    kept = stored(tmp_path, "https://a.example/x, https://b.example/y\n")
    found = reader(tmp_path, f'[mine]\nurls_file = "{kept}"').section("mine", Section)
    assert found.urls == ("https://a.example/x", "https://b.example/y")


def test_an_error_names_section_and_field(tmp_path: Path) -> None:
    kept, toml = stored(tmp_path), tmp_path / "netautod.toml"
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    big = stored(tmp_path, "x" * 70_000, "big")
    cases: list[tuple[str, dict[str, str], str]] = [
        (
            f'[mine]\ntoken = "x"\ntoken_file = "{kept}"',
            {},
            f"{toml}: mine.token and mine.token_file are both set",
        ),
        (
            "",
            {"NETAUTOD_MINE_TOKEN": "x", "NETAUTOD_MINE_TOKEN_FILE": str(kept)},
            "NETAUTOD_MINE_TOKEN and NETAUTOD_MINE_TOKEN_FILE are both set",
        ),
        ('[mine]\ntoken_file = "/no/such"', {}, f"{toml}: mine.token_file: /no/such cannot be read"),
        (f'[mine]\ntoken_file = "{binary}"', {}, "is not a text in UTF-8"),
        (f'[mine]\ntoken_file = "{big}"', {}, "is larger than 64 KiB"),
        ("[mine]\ntoken_file = 7", {}, f"{toml}: mine.token_file must be a path"),
        (f'[mine]\nname_file = "{kept}"', {}, "unknown setting mine.name_file"),
        ('[mine]\ntoken = "short"', {}, "mine.token must have 12 characters at least"),
    ]
    for text, environment, message in cases:
        with pytest.raises(SettingsError) as caught:
            reader(tmp_path, text, **environment).section("mine", Section)
        assert message in caught.value.text
        assert SECRET not in caught.value.text


def configured(folder: Path, text: str, **environment: str) -> Configuration:
    file = folder / "netautod.toml"
    file.write_text(text)
    file.chmod(0o600)
    return load(file=file, environment=environment, flags={}, warn=lambda _: None)


def test_a_secret_in_clear_in_the_settings_file_is_a_risk_of_plugins(tmp_path: Path) -> None:
    in_clear = configured(tmp_path, '[ldap]\nbind_password = "in the file"')
    assert [risk.name for risk in in_clear.risks.warned] == ["secret-in-settings-file"]
    assert "ldap.bind_password" in in_clear.risks.warned[0].text
    for text, environment in (
        (f'[ldap]\nbind_password_file = "{_closed(stored(tmp_path))}"', {}),
        ("", {"NETAUTOD_LDAP_BIND_PASSWORD": "x"}),
        ('[ldap]\nbind_password = "vault:ldap"', {}),
        ('admin_password = "of the service itself"', {}),
    ):
        assert configured(tmp_path, text, **environment).risks.warned == ()
    opened = stored(tmp_path)
    opened.chmod(0o644)
    found = configured(tmp_path, f'[ldap]\nbind_password_file = "{opened}"').risks.warned
    assert [risk.name for risk in found] == ["key-file-readable"]


def _closed(path: Path) -> Path:
    path.chmod(0o600)
    return path


def test_only_plugins_have_secrets_in_the_vault(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="admin_password: only secrets of plugins can be in the vault"):
        configured(tmp_path, 'admin_password = "vault:first"')
    found = configured(tmp_path, '[webhook]\nurls = ["vault:hooks"]\nsecret = "vault:hook"')
    assert found.in_vault == {"webhook.urls": "hooks", "webhook.secret": "hook"}


@pytest.fixture
async def secrets(indexed: Database, tmp_path: Path, clock: MovableClock) -> NamedSecrets:
    return NamedSecrets(indexed, vault=await Vault.open(indexed, data_dir=tmp_path), clock=clock)


async def test_sections_are_filled_from_the_vault(
    secrets: NamedSecrets, indexed: Database, tmp_path: Path
) -> None:
    await secrets.put("good", SECRET)
    await secrets.put("short", "short")
    await secrets.put("hooks", "https://a.example/x, https://b.example/y")
    await secrets.put("moved", SECRET)
    rows = indexed.collection("installation_secrets")
    [sealed] = await rows.find({"_id": "good"})
    assert SECRET not in repr(sealed)
    await rows.update({"_id": "moved"}, {"$set": {"value": sealed["value"]}})
    sections = {name: Section(name=name) for name in ("one", "two", "three", "four", "five")}
    in_vault = {
        "one.token": "good",
        "one.urls": "hooks",
        "two.token": "short",
        "three.token": "no-such",
        "four.token": "moved",
    }
    made = await filled(sections, in_vault, secrets)
    assert made.sections == {
        "one": Section(name="one", token=SECRET, urls=("https://a.example/x", "https://b.example/y")),
        "five": Section(name="five"),
    }
    messages = {name: str(failure) for name, failure in made.failures.items()}
    assert messages == {
        "two": "mine.token must have 12 characters at least",
        "three": "three.token: there is no secret 'no-such' in the vault (netautod secret set no-such)",
        "four": "four.token: A stored secret does not open: it was changed, moved, or encrypted with another "
        "key",
    }


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("", "x", "name: "),
        ("A", "x", "name: "),
        ("a|b", "x", "name: "),
        ("a", "", "value: "),
        ("a" * 65, "x", "name: "),
    ],
)
async def test_what_is_no_secret(secrets: NamedSecrets, name: str, value: str, text: str) -> None:
    with pytest.raises(Exception, match=text):
        await secrets.put(name, value)
    assert await secrets.all() == []


@pytest.mark.parametrize(
    "form", [logs.TextFormatter(hide_in_log), logs.JsonFormatter(hide_in_log)], ids=["text", "json"]
)
def test_no_log_line_shows_a_secret_of_the_settings(form: logging.Formatter) -> None:
    quoted = 'with "quotes" and \\'
    KNOWN.add([SECRET, quoted, "tiny", SECRET + "-longer"])
    try:
        raise ValueError(f"{SECRET}-longer is wrong")
    except ValueError as error:
        info: Any = (type(error), error, error.__traceback__)
    arguments = (SECRET, quoted)
    record = logging.LogRecord("plugin.mine", 20, "f.py", 1, "%s and %s, not tiny", arguments, info)
    line = form.format(record)
    assert "<hidden> and <hidden>, not tiny" in line
    assert "ValueError: <hidden> is wrong" in line
    assert SECRET not in line
    assert "quotes" not in line


@pytest.mark.parametrize(
    ("name", "shown"), [("plugin.mine", "<hidden>"), ("netautod.core", "ghp_abcdefgh12345")]
)
def test_lines_of_plugins_lose_also_what_looks_like_a_secret(name: str, shown: str) -> None:
    record = logging.LogRecord(name, 20, "f.py", 1, "sent ghp_abcdefgh12345 to it", (), None)
    assert f"sent {shown} to it" in logs.TextFormatter(hide_in_log).format(record)


def test_the_failures_of_a_section_stop_no_other_plugin(tmp_path: Path) -> None:
    loaded = LoadedPlugins.of({"one": object(), "two": object()})
    KNOWN.add([SECRET])
    loaded.leave_out("one", RuntimeError(f"cannot use {SECRET}"))
    shown: Mapping[str, str | None] = {status.name: status.error for status in loaded.statuses}
    assert shown == {"one": "RuntimeError: cannot use <hidden>", "two": None}
