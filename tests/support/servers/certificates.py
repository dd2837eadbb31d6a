"""Authorities and server certificates made for one test run."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Authority:
    """Writes `<name>.pem` of itself into the folder, and pairs of files for servers."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = name
        self.file = folder / f"{name}.pem"
        authority = x509.BasicConstraints(ca=True, path_length=0)
        self.file.write_bytes(self._signed(name, self._key, timedelta(days=2), authority))

    def server(self, name: str, host: str = "127.0.0.1", *, expired: bool = False) -> tuple[Path, Path]:
        """The files with the certificate and the key of a server at the address or name `host`."""
        key = ec.generate_private_key(ec.SECP256R1())
        other: x509.GeneralName
        try:
            other = x509.IPAddress(ip_address(host))
        except ValueError:
            other = x509.DNSName(host)
        left = timedelta(hours=-1) if expired else timedelta(days=1)
        files = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        files[0].write_bytes(self._signed(host, key, left, x509.SubjectAlternativeName([other])))
        files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return files

    def _signed(
        self, subject: str, key: ec.EllipticCurvePrivateKey, left: timedelta, extension: x509.ExtensionType
    ) -> bytes:
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(
            issuer_name=_common_name(self._name),
            subject_name=_common_name(subject),
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - timedelta(days=2),
            not_valid_after=now + left,
        ).add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
