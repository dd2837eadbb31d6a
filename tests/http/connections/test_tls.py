"""The certificate of the server: what is sent of a bad one, and that a new one is used without a restart."""

import asyncio
import os
import shutil
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from tornado.netutil import bind_sockets

from netautod.core.metrics import Metrics
from netautod.http.connections.deadlines import Deadlines
from netautod.http.connections.server import HttpServer
from netautod.http.connections.tls import TlsError, TlsFiles, TlsRenewal
from netautod.http.settings import ServerSettings
from netautod.http.status.unavailable import refusing_application
from tests.support.servers.certificates import Authority


def files_of(authority: Authority, name: str) -> TlsFiles:
    certificate, key = authority.server(name)
    return TlsFiles(certificate=certificate, key=key)


def no_file(files: TlsFiles, other: TlsFiles) -> None:
    files.key.unlink()


def a_folder(files: TlsFiles, other: TlsFiles) -> None:
    files.certificate.unlink()
    files.certificate.mkdir()


def of_another(files: TlsFiles, other: TlsFiles) -> None:
    shutil.copy(other.key, files.key)


def no_pem(files: TlsFiles, other: TlsFiles) -> None:
    files.certificate.write_text("nothing\n")


def encrypted(files: TlsFiles, other: TlsFiles) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    files.key.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    )


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        pytest.param(no_file, "one.key of server.tls_\\* cannot be read: No such file", id="no file"),
        pytest.param(a_folder, "one.crt of server.tls_\\* cannot be read: Is a directory", id="a folder"),
        pytest.param(of_another, "cannot be used together: KEY_VALUES_MISMATCH", id="the key of another"),
        pytest.param(no_pem, "cannot be used together", id="no PEM"),
        pytest.param(encrypted, "is encrypted", id="an encrypted key"),
    ],
)
async def test_a_bad_pair_is_refused_and_replaces_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: object, text: str
) -> None:
    authority = Authority(tmp_path, "authority")
    files, other = files_of(authority, "one"), files_of(authority, "other")
    used: list[ssl.SSLContext] = []
    renewal = TlsRenewal(files, stamp=files.stamp(), use=used.append)
    assert callable(spoil)
    spoil(files, other)
    with pytest.raises(TlsError, match=text):
        files.context()
    await renewal.look()
    assert (used, "the certificate is not changed" in caplog.text) == ([], True)


def test_the_end_of_the_chain_is_that_of_its_first_certificate_to_end(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    files = files_of(authority, "one")
    files.certificate.write_bytes(authority.file.read_bytes() + files.certificate.read_bytes())
    left = files.ends_at() - datetime.now(UTC)
    assert 0.9 < left.total_seconds() / 86400 < 1.1
    assert files.problem(datetime.now(UTC)) is None
    expired = authority.server("late", expired=True)
    problem = TlsFiles(certificate=expired[0], key=expired[1]).problem(datetime.now(UTC))
    assert problem is not None
    assert problem.startswith("server.tls_certificate has ended at 20")


async def test_new_connections_meet_the_new_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    files = files_of(authority, "one")
    settings = ServerSettings()
    server = HttpServer(
        refusing_application(settings, "starting", Metrics()),
        connections=5,
        deadlines=Deadlines.of(settings),
        tls=files.context(),
    )
    renewal = TlsRenewal(files, stamp=files.stamp(), use=server.use_certificate)
    listening = bind_sockets(0, "127.0.0.1")
    server.add_sockets(listening)
    port = listening[0].getsockname()[1]
    trusting = ssl.create_default_context(cafile=str(authority.file))
    trusting.set_alpn_protocols(["h2", "http/1.1"])

    async def met() -> tuple[bytes | None, str | None]:
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
        with_tls = writer.get_extra_info("ssl_object")
        found = with_tls.getpeercert(binary_form=True), with_tls.selected_alpn_protocol()
        writer.close()
        return found

    first, protocol = await met()
    assert protocol == "http/1.1"
    await renewal.look()
    assert (await met())[0] == first
    other = files_of(authority, "other")
    os.replace(other.certificate, files.certificate)
    await renewal.look()  # between the two files they do not fit
    assert (await met())[0] == first
    os.replace(other.key, files.key)
    await renewal.look()
    assert (await met())[0] not in (first, None)
    server.stop()
    await server.close_all_connections()


async def test_old_versions_of_tls_are_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    assert files_of(authority, "one").context().minimum_version == ssl.TLSVersion.TLSv1_2
