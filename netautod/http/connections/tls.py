"""The certificate of the server: reading, checking, and reading it again when its files have changed."""

import asyncio
import logging
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from netautod.core.errors import NetautodError
from netautod.http.settings import ServerSettings

logger = logging.getLogger(__name__)


class TlsError(NetautodError):
    """The certificate or its key cannot be used; one line for the operator."""


@dataclass(frozen=True, kw_only=True)
class TlsFiles:
    """The PEM files: the chain, the server's own certificate first, and its private key."""

    certificate: Path
    key: Path

    @classmethod
    def of(cls, server: ServerSettings) -> "TlsFiles | None":
        """Return the files that the settings name, or None if the server speaks plain HTTP."""
        if not server.tls_certificate:
            return None
        return cls(certificate=Path(server.tls_certificate), key=Path(server.tls_key))

    def context(self) -> ssl.SSLContext:
        """Return the context for TLS 1.2 or newer, and HTTP/1.1 only (RFC 7301). Raises TlsError."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            for file in (self.certificate, self.key):
                file.read_bytes()  # else the error of the next line does not name the file
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
        except ssl.SSLError as error:
            raise TlsError(
                f"server.tls_certificate {self.certificate} and server.tls_key {self.key} "
                f"cannot be used together: {error.reason or error}"
            ) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise TlsError(f"the file {error.filename} of server.tls_* cannot be read: {reason}") from error
        except ValueError as error:
            raise TlsError(f"server.tls_key {self.key} is encrypted: store it without a password") from error
        return context

    def ends_at(self) -> datetime:
        """Return when the first certificate of the chain to end does so. Raises TlsError."""
        try:
            chain = x509.load_pem_x509_certificates(self.certificate.read_bytes())
        except (OSError, ValueError) as error:
            raise TlsError(f"server.tls_certificate {self.certificate} cannot be read: {error}") from error
        return min(one.not_valid_after_utc for one in chain)

    def problem(self, now: datetime) -> str | None:
        """Return what clients would not accept, in a line; None if there is nothing."""
        ends_at = self.ends_at()
        return f"server.tls_certificate has ended at {ends_at:%Y-%m-%d %H:%M} UTC" if ends_at <= now else None

    def stamp(self) -> tuple[object, ...]:
        """Return a value that differs once one of the files is another."""
        return tuple(_stamp(file) for file in (self.certificate, self.key))


class TlsRenewal:
    """The renewal of the certificate: a new context when the files have changed. A pair that cannot be used
    leaves the old one.

    `stamp` is that of the files before they were read.
    """

    def __init__(
        self, files: TlsFiles, *, stamp: tuple[object, ...], use: Callable[[ssl.SSLContext], None]
    ) -> None:
        self._files = files
        self._use = use
        self._stamp = stamp

    async def look(self) -> None:
        """Read the files if they have changed."""
        stamp = await asyncio.to_thread(self._files.stamp)
        if stamp != self._stamp:
            self._stamp = stamp
            await self.read()

    async def read(self) -> None:
        """Read the files again."""
        try:
            context, ends_at = await asyncio.to_thread(self._read)
        except TlsError as error:
            logger.error("the certificate is not changed: %s", error)
            return
        self._use(context)
        logger.info("the certificate is read again; it ends at %s", f"{ends_at:%Y-%m-%d %H:%M} UTC")
        if ends_at <= datetime.now(UTC):
            logger.warning("the certificate has ended")

    def _read(self) -> tuple[ssl.SSLContext, datetime]:
        return self._files.context(), self._files.ends_at()


def _stamp(file: Path) -> object:
    try:
        found = os.stat(file)
    except OSError as error:
        return error.errno
    return found.st_ino, found.st_mtime_ns, found.st_size


def _no_password() -> str:
    # OpenSSL would ask on the terminal.
    raise ValueError
