"""A whole service that is configured for LDAP and OIDC by its settings file."""

from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from tests.support.client import assert_error
from tests.support.programs import slapd
from tests.support.programs.service import serving
from tests.support.programs.slapd import BASE, PASSWORD, Slapd
from tests.support.servers.certificates import Authority
from tests.support.servers.identity_provider import CLIENT_ID, ScriptedProvider

CONSOLE = "https://console.example/done"
CALLBACK = "http://127.0.0.1:8080/api/auth/oidc/callback"
SETTINGS = """
[outbound]
allow = ["127.0.0.1"]

[ldap]
enabled = true
urls = ["{ldap}"]
ca_file = "{authority}"
bind_dn = "{reader}"
base_dn = "ou=people,{base}"
group_base_dn = "ou=groups,{base}"
auto_provision = true
role_map = ["operator = cn=Net Admins,ou=groups,{base}"]

[oidc]
enabled = true
issuer = "{issuer}"
client_id = "{client}"
callback_url = "{callback}"
redirect_uris = ["{console}"]
auto_provision = true
default_roles = ["viewer"]
"""


async def test_logins_through_the_configured_directories(
    directory: Slapd, authority: Authority, tmp_path: Path
) -> None:
    provider = ScriptedProvider()
    provider.claims["preferred_username"] = "olga"
    provider.userinfo = {"sub": "subject-1"}
    file = tmp_path / "netautod.toml"
    file.write_text(
        SETTINGS.format(
            ldap=directory.url,
            authority=authority.file,
            reader=slapd.READER,
            base=BASE,
            issuer=provider.issuer,
            client=CLIENT_ID,
            callback=CALLBACK,
            console=CONSOLE,
        )
    )
    variables = {"NETAUTOD_LDAP_BIND_PASSWORD": slapd.READER_PASSWORD}
    async with serving(tmp_path / "data", "--config", str(file), variables=variables) as service:
        client = await service.anonymous()
        listed = (await client.get("/api/auth/providers")).json["providers"]
        assert [entry["enabled"] for entry in listed] == [True, True, True]
        key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKOuFwRvwpbuTZ3bcHsFNAEfWTyPCQgDGfZzWnLWrVsm"
        answer = await client.post(
            "/api/auth/ldap", {"username": "ada", "password": PASSWORD, "public_key": key}
        )
        assert answer.status == 200, answer.content
        assert answer.json["ssh_certificate"]["serial"] == 1
        ada = client.with_token(answer.json["access_token"])
        assert (await ada.get("/api/auth/me")).json["roles"] == ["operator"]
        assert (await ada.get("/api/ssh-ca")).status == 200
        assert_error(await ada.post("/api/auth/ldap/test"), 403)
        admin = await service.client()
        tested = await admin.post("/api/auth/ldap/test", {"username": "grace"})
        assert tested.json["success"], tested.json

        started = await client.get(f"/api/auth/oidc/authorize?redirect_uri={quote(CONSOLE)}")
        state = provider.see(started.headers["Location"])["state"]
        cookie = started.headers["Set-Cookie"].partition(";")[0]
        ended = await client.get(f"/api/auth/oidc/callback?code=c&state={state}", headers={"Cookie": cookie})
        assert ended.status == 302, ended.content
        tokens = parse_qs(urlsplit(ended.headers["Location"]).fragment)
        olga = client.with_token(tokens["access_token"][0])
        assert (await olga.get("/api/auth/me")).json["roles"] == ["viewer"]
    assert slapd.READER_PASSWORD not in service.log.read_text()
    provider.server.stop()
    await provider.server.close_all_connections()
