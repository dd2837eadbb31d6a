"""The sections of the built-in plugins: what is refused in one line that names the key."""

from pathlib import Path
from typing import Any, get_args

import pytest

from netautod.assembly.configuration import load
from netautod.assembly.settings import Settings
from netautod.network.discovery.changes.compare import Kind
from netautod.plugin_api import SettingsError
from netautod.plugin_host.manager import OBSERVER_HOOKS
from netautod_webhook.settings import CHANGES, EVENTS, WebhookSettings

LDAP = {"enabled": True, "urls": ["ldaps://dc1.example"], "base_dn": "dc=example"}
OIDC = {
    "enabled": True,
    "issuer": "https://login.example/realm",
    "client_id": "netautod",
    "callback_url": "https://netautod.example/api/auth/oidc/callback",
    "redirect_uris": ["https://console.example/done"],
}


SECRET = "canary-of-the-webhook-secret"
WEBHOOK = {"urls": ["https://x/"], "secret": SECRET}
COMPLETE: dict[str, dict[str, Any]] = {"ldap": LDAP, "oidc": OIDC, "webhook": WEBHOOK}


def loaded(folder: Path, section: str, values: dict[str, Any]) -> Any:
    """Return the section, as the service reads it."""
    return read(folder, section, values).of_plugins[section]


def read(folder: Path, section: str, values: dict[str, Any]) -> Settings:
    def toml(value: Any) -> str:
        if isinstance(value, list):
            return "[" + ", ".join(toml(item) for item in value) + "]"
        return str(value).lower() if isinstance(value, bool) else f"'{value}'"

    file = folder / "netautod.toml"
    lines = [f"[{section}]", *(f"{name} = {toml(value)}" for name, value in values.items())]
    file.write_text("\n".join(lines))
    return load(file=file, environment={}, flags={}, warn=lambda text: None).settings


def test_complete_sections(tmp_path: Path) -> None:
    assert loaded(tmp_path, "ldap", LDAP).urls == ("ldaps://dc1.example",)
    assert loaded(tmp_path, "oidc", OIDC).redirect_uris == ("https://console.example/done",)


def test_a_section_that_is_off_may_be_empty(tmp_path: Path) -> None:
    assert not loaded(tmp_path, "ldap", {}).enabled
    assert not loaded(tmp_path, "oidc", {"issuer": "nonsense"}).enabled
    assert loaded(tmp_path, "webhook", {"events": ["config_changed"]}).urls == ()


def test_secrets_are_not_in_the_repr(tmp_path: Path) -> None:
    shown = repr(read(tmp_path, "ldap", {**LDAP, "bind_dn": "cn=x", "bind_password": "canary"}))
    shown += repr(read(tmp_path, "oidc", {**OIDC, "client_secret": "canary"}))
    shown += repr(read(tmp_path, "webhook", {**WEBHOOK, "urls": ["https://x/canary"]}))
    assert "LdapSettings" in shown
    assert "canary" not in shown


@pytest.mark.parametrize(
    ("section", "changes", "named"),
    [
        pytest.param("ldap", {"urls": []}, "ldap.urls", id="no server"),
        pytest.param("ldap", {"urls": ["https://dc1.example"]}, "ldap.urls", id="another protocol"),
        pytest.param("ldap", {"urls": ["ldap://user:pw@dc1"]}, "ldap.urls", id="a password in the address"),
        pytest.param("ldap", {"urls": ["ldap://dc1/dc=x??sub"]}, "ldap.urls", id="a search in the address"),
        pytest.param("ldap", {"base_dn": ""}, "ldap.base_dn", id="nowhere to search"),
        pytest.param("ldap", {"user_dn": "cn=everybody"}, "{username}", id="one DN for all"),
        pytest.param("ldap", {"user_filter": "(uid=*)"}, "{username}", id="one filter for all"),
        pytest.param("ldap", {"bind_dn": "cn=x"}, "ldap.bind_password", id="a bind without password"),
        pytest.param("ldap", {"role_map": ["admins"]}, "ROLE = GROUP", id="a line without a group"),
        pytest.param("oidc", {"issuer": ""}, "oidc.issuer", id="no issuer"),
        pytest.param("oidc", {"issuer": "http://login.example"}, "oidc.issuer", id="an issuer in clear"),
        pytest.param(
            "oidc", {"issuer": "https://login.example?x"}, "oidc.issuer", id="an issuer with a query"
        ),
        pytest.param("oidc", {"issuer": "https://[login"}, "oidc.issuer", id="an issuer that is no URL"),
        pytest.param("oidc", {"client_id": ""}, "oidc.client_id", id="no client id"),
        pytest.param("oidc", {"callback_url": ""}, "oidc.callback_url", id="no callback"),
        pytest.param(
            "oidc", {"callback_url": "https://x.example/other"}, "oidc.callback_url", id="another path"
        ),
        pytest.param("oidc", {"redirect_uris": ["*"]}, "oidc.redirect_uris", id="every address"),
        pytest.param("oidc", {"scopes": ["email"]}, "oidc.scopes", id="no scope openid"),
        pytest.param("oidc", {"algorithms": ["HS256"]}, "oidc.algorithms", id="a symmetric algorithm"),
        pytest.param("oidc", {"algorithms": ["none"]}, "oidc.algorithms", id="no signature"),
        pytest.param("oidc", {"algorithms": []}, "oidc.algorithms", id="no algorithm"),
        pytest.param("oidc", {"role_map": ["= x"]}, "ROLE = GROUP", id="a line without a role"),
        pytest.param("webhook", {"urls": ["ftp://x"]}, "webhook.urls: The URL must begin with", id="ftp"),
        pytest.param("webhook", {"urls": ["https://u:p@x/"]}, "webhook.urls", id="a password in the URL"),
        pytest.param("webhook", {"urls": ["https://x/"] * 2}, "webhook.urls lists", id="a URL twice"),
        pytest.param("webhook", {"secret": "short"}, "webhook.secret", id="a short secret"),
        pytest.param("webhook", {"secret": ""}, "webhook.secret", id="no secret"),
        pytest.param("webhook", {"events": ["reboot"]}, "webhook.events: 'reboot'", id="an unknown event"),
    ],
)
def test_what_is_refused(tmp_path: Path, section: str, changes: dict[str, Any], named: str) -> None:
    whole = {**COMPLETE[section], **changes}
    with pytest.raises(SettingsError) as refusal:
        loaded(tmp_path, section, whole)
    assert named in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"])
def test_this_machine_may_be_reached_in_clear(tmp_path: Path, host: str) -> None:
    issuer = f"http://{host}"
    assert loaded(tmp_path, "oidc", {**OIDC, "issuer": issuer}).issuer == issuer


def test_every_event_of_the_service_can_be_posted() -> None:
    hooks = tuple(hook.removeprefix("netautod_") for hook in OBSERVER_HOOKS)
    assert hooks == (*EVENTS, "device_changed")
    assert set(get_args(Kind)) == {*CHANGES, "interface_down"}
    assert WebhookSettings().events == (*EVENTS, *CHANGES)
    WebhookSettings(events=("interface_down",)).check()
