"""Two plugins of others beside the service: logins of names of their own, a secret in the vault."""

import hashlib
import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from netautod.store.client import Database
from tests.support.client import assert_error
from tests.support.guide import write_entry_point
from tests.support.programs.in_process import Commands
from tests.support.programs.service import serving
from tests.support.servers.identity_provider import CLIENT_ID, ScriptedProvider

CONSOLE = "https://console.example/done"
PACKAGES = ("acme_staff", "acme_sso")
PASSWORD, PEPPER = "a password of ada's", "pepper-of-acme's-staff"
SETTINGS = """
[outbound]
allow = ["127.0.0.1"]

[log]
format = "json"

[acme_staff]
people = "{people}"
pepper = "vault:staff-pepper"

[acme_sso]
enabled = true
issuer = "{issuer}"
client_id = "{client}"
callback_url = "http://127.0.0.1:8080/api/auth/providers/acme_sso/callback"
redirect_uris = ["{console}"]
auto_provision = true
default_roles = ["viewer"]

[webhook]
urls = ["https://receiver.example/"]
secret = "vault:no-such-secret"
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which both are installed; this process sees it, too."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    for package in PACKAGES:
        shutil.copytree(Path(__file__).parent / "third_party" / package, folder / package)
        write_entry_point(package, folder)
    return folder


async def test_in_the_service(
    installed: Path,
    tmp_path: Path,
    mongo_uri: str,
    database: Database,
    commands: Commands,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider = ScriptedProvider()
    provider.claims["preferred_username"] = "olga"
    provider.userinfo = {"sub": "subject-1"}
    people, file = tmp_path / "people.json", tmp_path / "netautod.toml"
    people.write_text(json.dumps({"ada": hashlib.sha256(f"{PEPPER}{PASSWORD}".encode()).hexdigest()}))
    file.write_text(SETTINGS.format(people=people, issuer=provider.issuer, client=CLIENT_ID, console=CONSOLE))
    file.chmod(0o600)
    variables = {
        "PYTHONPATH": str(installed),
        "NETAUTOD_MONGODB_URI": mongo_uri,
        "NETAUTOD_MONGODB_DATABASE": database.name,
    }
    flags = ("--data-dir", str(tmp_path / "data"), "--config", str(file))
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PEPPER}\n"))
    await _manage_secrets(commands, flags, variables)
    async with serving(tmp_path / "data", "--config", str(file), variables=variables) as service:
        client = await service.anonymous()
        listed = (await client.get("/api/auth/providers")).json["providers"]
        assert {one["name"]: one["enabled"] for one in listed} == {
            "local": True,
            "ldap": False,
            "oidc": False,
            "acme-staff": True,
            "acme_sso": True,
        }
        login = {"username": "ada", "password": PASSWORD, "provider": "acme-staff"}
        assert_error(await client.post("/api/auth/login", {**login, "password": "no"}), 401, "Invalid")
        ada = client.with_token((await client.post("/api/auth/login", login)).expect(200)["access_token"])
        assert (await ada.get("/api/auth/me")).json["auth_provider"] == "acme-staff"

        started = await client.get(f"/api/auth/providers/acme_sso/authorize?redirect_uri={quote(CONSOLE)}")
        state = provider.see(started.headers["Location"])["state"]
        cookie = started.headers["Set-Cookie"].partition(";")[0]
        ended = await client.get(
            f"/api/auth/providers/acme_sso/callback?code=c&state={state}", headers={"Cookie": cookie}
        )
        assert ended.status == 302, ended.content
        tokens = parse_qs(urlsplit(ended.headers["Location"]).fragment)
        olga = client.with_token(tokens["access_token"][0])
        assert (await olga.get("/api/auth/me")).json["auth_provider"] == "acme_sso"

        admin = await service.client()
        tried = await admin.post("/api/auth/providers/acme-staff/test", {})
        assert tried.json["message"].startswith("at 20")
        plugins = {one["name"]: one for one in (await admin.get("/api/system/status")).json["plugins"]}
        assert [plugins[name]["ok"] for name in PACKAGES] == [True, True]
        assert plugins["webhook"]["error"] == (
            "SettingsError: webhook.secret: there is no secret 'no-such-secret' in the vault "
            "(netautod secret set no-such-secret)"
        )
    lines = [json.loads(line) for line in service.log.read_text().splitlines() if line.startswith("{")]
    [line] = [line for line in lines if line["logger"] == "plugin.acme_staff"]
    assert line["message"] == "ada logged in with the pepper <hidden>"
    assert line["request"]
    assert PEPPER not in service.log.read_text()
    provider.server.stop()
    await provider.server.close_all_connections()


async def _manage_secrets(commands: Commands, flags: Sequence[str], variables: dict[str, str]) -> None:
    """Store the pepper in the vault, and return the output of the commands."""
    stored = await commands("secret", "set", "staff-pepper", *flags, variables=variables)
    assert (stored.code, "vault:staff-pepper" in stored.out) == (0, True), stored.err
    listed = await commands("secret", "list", *flags, variables=variables)
    assert listed.code == 1  # one is missing
    assert [line.split()[0] for line in listed.out.splitlines()] == ["staff-pepper", "no-such-secret"]
    assert "acme_staff.pepper" in listed.out
    shown = await commands("plugins", "settings", "acme_staff", *flags, variables=variables)
    assert "pepper = (set)  # vault:staff-pepper" in shown.out
    assert PEPPER not in stored.out + stored.err + listed.out + shown.out
