"""The service with a certificate of its own: HTTP/1.1 only, and a new certificate without a restart."""

import asyncio
import os
import signal
import ssl
from pathlib import Path

import pytest

from netautod.http.connections.tls import TlsFiles
from tests.e2e.test_metrics import read, sample
from tests.support.execution import eventually
from tests.support.programs.service import Service, serving
from tests.support.programs.started import free_port
from tests.support.servers.certificates import Authority

pytestmark = pytest.mark.slow
SELDOM = "import netautod.server.server as server; server.CERTIFICATE_SECONDS = 3600.0"
TRIES = 12  # connections, of which each of two workers takes some


async def shown(service: Service, authority: Authority) -> set[bytes | None]:
    """The certificates that new connections meet."""
    host, _, port = service.url.removeprefix("https://").partition(":")
    trusting = ssl.create_default_context(cafile=str(authority.file))
    trusting.set_alpn_protocols(["h2", "http/1.1"])

    async def one() -> bytes | None:
        reader, writer = await asyncio.open_connection(host, int(port), ssl=trusting)
        channel = writer.get_extra_info("ssl_object")
        assert channel.selected_alpn_protocol() == "http/1.1"
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()
        found: bytes | None = channel.getpeercert(binary_form=True)
        return found

    return set(await asyncio.gather(*(one() for _ in range(TRIES))))


def replace(files: tuple[Path, Path], others: tuple[Path, Path]) -> None:
    for old, new in zip(files, others, strict=True):
        os.replace(new, old)


def settings_of(files: tuple[Path, Path]) -> dict[str, str]:
    names = ("NETAUTOD_SERVER_TLS_CERTIFICATE", "NETAUTOD_SERVER_TLS_KEY")
    return dict(zip(names, map(str, files), strict=True))


async def until_new(service: Service, authority: Authority, old: set[bytes | None]) -> None:
    async def all_new() -> bool:
        found = await shown(service, authority)
        return len(found) == 1 and not found & old

    await eventually(all_new, seconds=60)


@pytest.mark.parametrize("flags", [(), ("--workers", "2")], ids=["one process", "workers"])
async def test_sighup_brings_a_new_certificate(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """Every process of it looks at the files by itself once an hour here, not every some seconds."""
    authority, site = Authority(tmp_path, "authority"), tmp_path / "site"
    files = authority.server("server")
    site.mkdir()
    (site / "sitecustomize.py").write_text(SELDOM)
    port, ends_at = free_port(), TlsFiles(certificate=files[0], key=files[1]).ends_at().timestamp()
    variables = {**settings_of(files), "PYTHONPATH": str(site), "NETAUTOD_METRICS_PORT": str(port)}
    async with serving(tmp_path / "data", *flags, variables=variables) as service:
        first = await shown(service, authority)
        told = sample("certificate_ends_at_seconds")(await read(port))  # of workers it is added up
        assert told == ends_at * (2 if flags else 1)
        replace(files, authority.server("second"))
        assert await shown(service, authority) == first
        service.process.send_signal(signal.SIGHUP)
        await until_new(service, authority, first)
        assert await service.stop() == 0


async def test_workers_notice_a_new_certificate_by_themselves(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    files = authority.server("server")
    async with serving(tmp_path / "data", "--workers", "2", variables=settings_of(files)) as service:
        first = await shown(service, authority)
        replace(files, authority.server("second"))
        await until_new(service, authority, first)
        assert await service.stop() == 0
