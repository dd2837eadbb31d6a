"""Insecure settings: which ones are a risk, and what accepting one does."""

from pathlib import Path
from typing import Any

import pytest

from netautod.assembly.configuration import Configuration, load
from netautod.assembly.risks import rules
from netautod.core.settings.field import SettingsError

HOST = "0.0.0.0"  # nothing listens there


def configured(text: str, folder: Path, **environment: str) -> Configuration:
    file = folder / "netautod.toml"
    file.write_text(text)
    file.chmod(0o600)
    warnings: list[str] = []
    return load(
        file=file, environment=environment, flags={"data_dir": str(folder / "data")}, warn=warnings.append
    )


def names(text: str, folder: Path) -> tuple[list[str], list[str]]:
    risks = configured(text, folder).risks
    return [risk.name for risk in risks.refused], [risk.name for risk in risks.warned]


REFUSED = [
    pytest.param("[server]\nbehind_proxy = true", ["proxy-without-addresses"], id="no proxy is named"),
    pytest.param('[server]\ntrusted_proxies = ["0.0.0.0/0"]', ["trust-all-proxies"], id="all of IPv4"),
    pytest.param('[server]\ntrusted_proxies = ["::/0"]', ["trust-all-proxies"], id="all of IPv6"),
    pytest.param(
        '[server]\ntrusted_proxies = ["0.0.0.0/1", "128.0.0.0/1"]', ["trust-all-proxies"], id="two halves"
    ),
    pytest.param(
        '[server]\ntrusted_proxies = ["1.0.0.0/8", "2.0.0.0/7", "4.0.0.0/6", "8.0.0.0/5", "16.0.0.0/4",'
        ' "32.0.0.0/3", "64.0.0.0/2", "128.0.0.0/1"]',
        ["trust-all-proxies"],
        id="all but a corner",
    ),
    pytest.param('[server]\ntrusted_proxies = ["2000::/3"]', ["trust-all-proxies"], id="what is handed out"),
    pytest.param('[server]\ntrusted_proxies = ["::ffff:0:0/96"]', ["trust-all-proxies"], id="mapped IPv4"),
    pytest.param('[outbound]\nallow = ["0.0.0.0/0"]', ["outbound-all"], id="outgoing to IPv4"),
    pytest.param('[outbound]\nallow = ["::/1", "8000::/1"]', ["outbound-all"], id="outgoing to IPv6"),
    pytest.param('[server]\ncors_origins = ["*"]', ["cors-all"], id="any origin"),
    pytest.param('[server]\ncors_origins = ["https://*"]', ["cors-all"], id="any origin by a pattern"),
    pytest.param('[server]\ncors_origins = ["https://a.example", "null"]', ["cors-all"], id="no origin"),
    pytest.param(
        '[server]\nbehind_proxy = true\ncors_origins = [" NULL"]',
        ["proxy-without-addresses", "cors-all"],
        id="two at once",
    ),
]


@pytest.mark.parametrize(("text", "wanted"), REFUSED)
def test_what_is_refused_becomes_a_warning_when_it_is_accepted(
    tmp_path: Path, text: str, wanted: list[str]
) -> None:
    refused, warned = names(text, tmp_path)
    assert refused == wanted
    accepted, kept = names(f"accept_risks = {wanted}\n{text}", tmp_path)
    assert (accepted, kept) == ([], [*wanted, *warned][: len(kept)])
    assert set(kept) == {*wanted, *warned}


def mongodb(uri: str) -> str:
    return f'[mongodb]\nuri = "{uri}"'


def ldap(*lines: str, url: str = "ldap://ldap.example.net") -> str:
    return "\n".join(["[ldap]", "enabled = true", f'urls = ["{url}"]', 'base_dn = "dc=example"', *lines])


WARNED = [
    pytest.param(f'[server]\nhost = "{HOST}"', ["plain-http", "any-host"], id="all addresses"),
    pytest.param('[server]\nhost = "::"', ["plain-http", "any-host"], id="all IPv6 addresses"),
    pytest.param(
        f'[server]\nhost = "{HOST}"\nbehind_proxy = true\ntrusted_proxies = ["10.0.0.0/8"]',
        ["any-host"],
        id="no names behind a proxy that is named",
    ),
    pytest.param('[outbound]\nallow = ["169.254.0.0/16"]', ["outbound-metadata"], id="metadata services"),
    pytest.param("[limits]\nrequests_per_second = 0", ["no-request-limit"], id="no limit"),
    pytest.param("[auth]\nlockout_failures = 100000", ["weak-lockout"], id="a lockout that never comes"),
    pytest.param("[auth]\nlockout_seconds = 1", ["weak-lockout"], id="a lockout that does not last"),
    pytest.param("[ssh_ca]\nreserved_principals = []", ["root-certificates"], id="certificates for root"),
    pytest.param(ldap("start_tls = false"), ["ldap-without-tls"], id="LDAP in clear"),
    pytest.param(ldap("verify_tls = false"), ["ldap-without-tls"], id="LDAP with anybody"),
    pytest.param(
        ldap("verify_tls = false", url="ldaps://ldap.example.net"),
        ["ldap-without-tls"],
        id="LDAPS with anybody",
    ),
    pytest.param(
        ldap("auto_provision = true", 'default_roles = ["admin"]'), ["directory-gives-admin"], id="all admins"
    ),
    pytest.param(
        '[oidc]\nredirect_uris = ["http://console.example/"]',
        ["oidc-redirect-in-clear"],
        id="tokens in clear",
    ),
    pytest.param("[polling]\nverify_tls = false", ["device-tls-unverified"], id="devices with anybody"),
    pytest.param(
        '[webhook]\nurls = ["http://hook.example/x"]\nsecret = "0123456789abcdef"',
        ["webhook-in-clear", "secret-in-settings-file"],
        id="events in clear",
    ),
    pytest.param(
        mongodb("mongodb://db1.example,127.0.0.1:27018/?replicaSet=r"),
        ["mongodb-without-tls", "mongodb-without-login"],
        id="one of several database servers is elsewhere",
    ),
    pytest.param(mongodb("mongodb://u:p@db1.example"), ["mongodb-without-tls"], id="a login in clear"),
    pytest.param(mongodb("mongodb://db1.example/?tls=true"), ["mongodb-without-login"], id="no login"),
    pytest.param(mongodb("mongodb+srv://db.example"), ["mongodb-without-login"], id="SRV is TLS by itself"),
    pytest.param(
        mongodb("mongodb+srv://u:p@db.example/?ssl=false"), ["mongodb-without-tls"], id="SRV without TLS"
    ),
    pytest.param(
        mongodb("mongodb://u:p@db1.example/?tls=true&TLSInsecure=true"),
        ["mongodb-without-tls"],
        id="insecure",
    ),
    pytest.param(
        mongodb("mongodb://u:p@db1.example/x?tls=true;tlsAllowInvalidCertificates=true"),
        ["mongodb-without-tls"],
        id="any certificate",
    ),
]


@pytest.mark.parametrize(("text", "wanted"), WARNED)
def test_what_is_warned_of_is_silent_when_it_is_accepted(
    tmp_path: Path, text: str, wanted: list[str]
) -> None:
    assert names(text, tmp_path) == ([], wanted)
    assert names(f"accept_risks = {wanted}\n{text}", tmp_path) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="the defaults"),
        pytest.param('[server]\nhost = "127.0.0.2"', id="another loopback address"),
        pytest.param('[server]\nhost = "localhost"', id="loopback by name"),
        pytest.param(
            f'[server]\nhost = "{HOST}"\nhosts = ["netautod.example"]\nbehind_proxy = true\n'
            'trusted_proxies = ["10.0.0.0/8"]',
            id="behind a proxy that is named, with names",
        ),
        pytest.param('[server]\ncors_origins = ["https://console.example"]', id="one origin"),
        pytest.param('[outbound]\nallow = ["127.0.0.1", "10.0.0.0/8"]', id="a few addresses"),
        pytest.param(ldap(), id="StartTLS"),
        pytest.param(ldap("start_tls = false", url="ldap://127.0.0.1"), id="LDAP on this machine"),
        pytest.param('[ldap]\nurls = ["ldap://x"]\nstart_tls = false', id="LDAP that is off"),
        pytest.param(mongodb("mongodb://127.0.0.1:27017,[::1]:27018,localhost/?replicaSet=r"), id="loopback"),
        pytest.param(mongodb("mongodb://%2Ftmp%2Fmongodb-27017.sock/"), id="a unix socket"),
        pytest.param(mongodb("mongodb://u:p@db1.example,db2.example/?tls=true"), id="login and TLS"),
        pytest.param(
            mongodb("mongodb://db1.example/?ssl=true&authMechanism=MONGODB-X509"), id="a client's certificate"
        ),
        pytest.param('[oidc]\nredirect_uris = ["http://127.0.0.1/", "app.example://x"]', id="native apps"),
    ],
)
def test_what_is_no_risk(tmp_path: Path, text: str) -> None:
    assert names(text, tmp_path) == ([], [])


@pytest.mark.parametrize(
    ("mode", "setting", "warned"),
    [
        pytest.param(0o600, "master_key_file", False, id="the master key, its owner's"),
        pytest.param(0o640, "master_key_file", True, id="the master key, the group's"),
        pytest.param(0o604, "master_key_file", True, id="the master key, anybody's"),
        pytest.param(0o400, "tls_key", False, id="the TLS key, its owner's"),
        pytest.param(0o444, "tls_key", True, id="the TLS key, anybody's"),
    ],
)
def test_key_files_that_others_may_read(tmp_path: Path, mode: int, setting: str, warned: bool) -> None:
    key = tmp_path / "key"
    key.write_text("secret")
    key.chmod(mode)
    text = f'master_key_file = "{key}"'
    if setting == "tls_key":
        text = f'[server]\ntls_certificate = "c"\ntls_key = "{key}"'
    assert names(text, tmp_path) == ([], ["key-file-readable"] if warned else [])


def test_the_key_beside_the_data(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    key = tmp_path / "data" / "master.key"
    key.touch(0o644)
    assert names("", tmp_path) == ([], ["key-file-readable"])


def test_a_key_that_systemd_mounts(tmp_path: Path) -> None:
    key = tmp_path / "netautod-master-key"
    key.touch(0o440)
    key.chmod(0o440)
    found = configured(f'master_key_file = "{key}"', tmp_path, CREDENTIALS_DIRECTORY=str(tmp_path))
    assert found.risks.warned == ()


@pytest.mark.parametrize(
    ("text", "mode", "warned"),
    [
        pytest.param('admin_password = "x"', 0o640, False, id="a secret, for the group"),
        pytest.param('admin_password = "x"', 0o644, True, id="a secret, for all"),
        pytest.param('[ldap]\nbind_password = "x"', 0o644, True, id="a plugin's secret"),
        pytest.param('[mongodb]\nuri = "mongodb://u:p@127.0.0.1"', 0o644, True, id="a URI with a password"),
        pytest.param('admin_password = ""', 0o644, False, id="an empty one"),
        pytest.param("[server]\nport = 1", 0o644, False, id="no secret"),
    ],
)
def test_a_settings_file_that_others_may_read(tmp_path: Path, text: str, mode: int, warned: bool) -> None:
    file = tmp_path / "netautod.toml"
    file.write_text(text)
    file.chmod(mode)
    found = load(file=file, environment={}, flags={"data_dir": str(tmp_path / "data")}, warn=print)
    assert ("key-file-readable" in [risk.name for risk in found.risks.warned]) == warned


def test_a_risk_says_where_it_stands_and_no_secret(tmp_path: Path) -> None:
    text = mongodb("mongodb://ann:hunter2@db1.example/?replicaSet=r")
    (risk,) = configured(text, tmp_path).risks.warned
    assert "mongodb.uri: db1.example" in risk.text
    assert "hunter2" not in risk.text


def test_an_unknown_risk_cannot_be_accepted(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match="there is no risk 'cors-al'; there are agent-in-clear, any-host, cors-all, "
    ):
        configured('accept_risks = ["cors-al"]', tmp_path)


def test_a_risk_of_a_plugin_that_is_disabled_may_be_accepted(tmp_path: Path) -> None:
    text = 'accept_risks = ["ldap-without-tls"]\n[plugins]\ndisabled = ["ldap"]'
    assert names(text, tmp_path) == ([], [])


def test_the_manual_says_what_brings_each_risk_about(tmp_path: Path) -> None:
    known: list[Any] = rules(configured("", tmp_path).settings)
    assert [rule.name for rule in known if not rule.cause] == []
