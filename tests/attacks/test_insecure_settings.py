"""Attacks on an installation whose administrator has opened it: the service says so, or does not start."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tornado.httpclient import HTTPResponse

from tests.support.fetching import fetch
from tests.support.programs.service import Service, run, serving

pytestmark = pytest.mark.slow

EVERY_ADDRESS = "0.0.0.0"  # a value of settings; nothing listens there


def written(folder: Path, text: str) -> Path:
    file = folder / "netautod.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("risk", "text"),
    [
        pytest.param(
            "proxy-without-addresses",
            "[server]\nbehind_proxy = true",
            id="nobody locks out all users of a proxy that was not named",
        ),
        pytest.param(
            "trust-all-proxies",
            '[server]\ntrusted_proxies = ["0.0.0.0/0"]',
            id="nobody chooses his address by a header where every address is a proxy",
        ),
        pytest.param(
            "trust-all-proxies",
            '[server]\ntrusted_proxies = ["10.0.0.0/8", "128.0.0.0/1", "0.0.0.0/1"]',
            id="nor where every address is one in two halves",
        ),
        pytest.param(
            "outbound-all",
            '[outbound]\nallow = ["::/0"]',
            id="nobody reaches this machine's own services by naming an address",
        ),
        pytest.param(
            "cors-all", '[server]\ncors_origins = ["*"]', id="no page of any site calls the API of its reader"
        ),
        pytest.param(
            "cors-all",
            '[server]\ncors_origins = ["null"]',
            id="nor one in a sandboxed frame, which is `null`",
        ),
    ],
)
async def test_the_settings_are_refused(tmp_path: Path, risk: str, text: str) -> None:
    done = await run("check-config", "--config", str(written(tmp_path, text)))
    assert (done.code, done.out) == (2, "")
    assert f"netautod: {risk}: " in done.err


@pytest.mark.parametrize(
    ("risk", "text"),
    [
        pytest.param(
            "plain-http",
            f'[server]\nhost = "{EVERY_ADDRESS}"\nhosts = ["netautod.example"]',
            id="who listens on the network for passwords is announced",
        ),
        pytest.param(
            "any-host",
            f'[server]\nhost = "{EVERY_ADDRESS}"\nbehind_proxy = true\ntrusted_proxies = ["192.0.2.1"]',
            id="a page whose name leads here (DNS rebinding) is announced",
        ),
        pytest.param(
            "ldap-without-tls",
            '[ldap]\nenabled = true\nurls = ["ldap://ldap.example"]\nbase_dn = "dc=x"\nstart_tls = false',
            id="who listens on the way to the directory is announced",
        ),
        pytest.param(
            "mongodb-without-login",
            '[mongodb]\nuri = "mongodb://db.example/?replicaSet=r&tls=true"',
            id="who writes himself into an open database is announced",
        ),
        pytest.param(
            "mongodb-without-tls",
            '[mongodb]\nuri = "mongodb://u:p@db.example/?replicaSet=r"',
            id="who listens on the way to the database is announced",
        ),
    ],
)
async def test_the_settings_are_warned_of(tmp_path: Path, risk: str, text: str) -> None:
    file = written(tmp_path, text)
    file.chmod(0o600)
    done = await run("check-config", "--config", str(file))
    assert done.code == 0
    assert f"netautod: warning: {risk}: " in done.err
    silent = await run(
        "check-config", "--config", str(written(tmp_path, f'accept_risks = ["{risk}"]\n{text}'))
    )
    assert (silent.code, silent.err) == (0, "")


async def test_the_service_does_not_start_with_what_it_refuses(tmp_path: Path) -> None:
    variables = {"NETAUTOD_SERVER_BEHIND_PROXY": "true", "NETAUTOD_DATA_DIR": str(tmp_path / "data")}
    done = await run("serve", "--port", "0", variables=variables)
    assert (done.code, done.out) == (2, "")
    assert "netautod: proxy-without-addresses: " in done.err
    assert not (tmp_path / "data").exists()


@pytest.fixture(scope="module")
async def careless(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service whose administrator has accepted all, behind a proxy on this machine."""
    folder = tmp_path_factory.mktemp("careless")
    key = folder / "key"
    key.write_text("ab" * 32)
    key.chmod(0o644)
    file = written(
        folder,
        f'accept_risks = ["cors-all"]\nmaster_key_file = "{key}"\n'
        '[server]\ncors_origins = ["*"]\ntrusted_proxies = ["127.0.0.1"]\nhsts_seconds = 600',
    )
    async with serving(folder / "data", "--config", str(file)) as service:
        yield service


async def asked(service: Service, path: str, method: str = "GET", **headers: str) -> HTTPResponse:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return await fetch(service.url + path, method, headers=names)


async def test_what_was_accepted_stands_in_the_log_and_in_the_status(careless: Service) -> None:
    status = (await (await careless.client()).get("/api/system/status")).expect()
    # The file of the first password is no setting; it is named as soon as it was looked for.
    named = {risk["name"] for risk in status["risks"]} - {"initial-admin-password"}
    assert named == {"cors-all", "key-file-readable"}
    log = careless.log.read_text()
    assert log.count("insecure setting: cors-all: ") == 1
    assert log.count("insecure setting: key-file-readable: ") == 1


async def test_what_was_accepted_is_what_happens(careless: Service) -> None:
    answer = await asked(careless, "/health", Origin="https://any.example")
    assert answer.headers["Access-Control-Allow-Origin"] == "https://any.example"


@pytest.mark.parametrize(
    ("path", "method"),
    [
        pytest.param("/health", "GET", id="an answer"),
        pytest.param("/api/docs-ui", "GET", id="a page"),
        pytest.param("/api/devices", "GET", id="an answer to somebody without a token"),
        pytest.param("/nowhere", "GET", id="the answer of a path that there is not"),
        pytest.param("/health", "DELETE", id="the answer to a method that there is not"),
        pytest.param("/api/auth/oidc/callback", "GET", id="the answer to a login that failed"),
    ],
)
async def test_a_browser_that_came_by_tls_is_kept_to_it_by(careless: Service, path: str, method: str) -> None:
    encrypted = await asked(careless, path, method, X_Forwarded_Proto="https")
    assert encrypted.headers.get("Strict-Transport-Security") == "max-age=600"
    in_clear = await asked(careless, path, method)
    assert "Strict-Transport-Security" not in in_clear.headers
