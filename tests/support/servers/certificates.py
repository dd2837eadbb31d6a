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
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.file = folder / f"{name}.pem"
        now = datetime.now(UTC)
        certificate = (
            self._builder(self._name, self._key, now - timedelta(days=2), now + timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file.write_bytes(certificate.public_bytes(Encoding.PEM))

    def server(self, name: str, host: str = "127.0.0.1", *, expired: bool = False) -> tuple[Path, Path]:
        """The files with the certificate and the key of a server at the address or name `host`."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        until = now - timedelta(hours=1) if expired else now + timedelta(days=1)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        other: x509.GeneralName
        try:
            other = x509.IPAddress(ip_address(host))
        except ValueError:
            other = x509.DNSName(host)
        certificate = (
            self._builder(subject, key, now - timedelta(days=1), until)
            .add_extension(x509.SubjectAlternativeName([other]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        files = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        files[0].write_bytes(certificate.public_bytes(Encoding.PEM))
        files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return files

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, begin: datetime, end: datetime
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(end)
        )
