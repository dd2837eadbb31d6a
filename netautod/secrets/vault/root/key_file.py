"""The root key's file: where it is looked for, which forms it may have, how it is made without loss.

A key that is made at first start waits as `master.key.pending` until the database has accepted its check
value; only then it becomes `master.key`. If we die in between, the next start tries the pending key again:
it is either the one that the database knows, or it lost against another node and is thrown away.
"""

import base64
import binascii
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from netautod.core.disk import reason
from netautod.secrets.vault.envelope import KEY_BYTES, new_key
from netautod.secrets.vault.errors import VaultError

CREDENTIAL_NAME = "netautod-master-key"
FILE_NAME = "master.key"
PENDING_NAME = "master.key.pending"
SETTING = "NETAUTOD_MASTER_KEY_FILE"
_MAX_FILE_BYTES = 1024


@dataclass(frozen=True, kw_only=True)
class RootKey:
    """A root key of 32 bytes, and the file it came from (for messages)."""

    secret: bytes = field(repr=False)
    source: Path

    def __post_init__(self) -> None:
        if len(self.secret) != KEY_BYTES:
            raise VaultError(f"The root key of {self.source} is not {KEY_BYTES} bytes long")


def load_root_key(
    data_dir: Path, key_file: Path | None, *, environ: Mapping[str, str] | None = None
) -> RootKey | None:
    """Return the first of: `key_file` (NETAUTOD_MASTER_KEY_FILE), the systemd credential,
    `<data_dir>/master.key`.

    None if there is none of them; a named file that is absent or unreadable is a VaultError, never skipped.
    `$CREDENTIALS_DIRECTORY` is set by LoadCredential= (systemd.exec(5)); `environ` is os.environ by default.
    """
    if key_file is not None:
        return read_root_key(key_file)
    credentials = (os.environ if environ is None else environ).get("CREDENTIALS_DIRECTORY")
    if credentials:
        found = _read_if_present(Path(credentials) / CREDENTIAL_NAME)
        if found is not None:
            return found
    return _read_if_present(data_dir / FILE_NAME)


def read_root_key(path: Path) -> RootKey:
    """Read 32 raw bytes, 64 hex digits or base64."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_FILE_BYTES)
    except OSError as error:
        raise VaultError(f"The root key file {path} cannot be read: {error.strerror}") from error
    secret = _parsed(content)
    if secret is None:
        raise VaultError(f"The root key file {path} must hold 32 raw bytes, 64 hex digits or their base64")
    return RootKey(secret=secret, source=path)


def _read_if_present(path: Path) -> RootKey | None:
    # Only "no such file" means absent: one that we may not look at must not lead to a second key.
    try:
        path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VaultError(f"The root key file {path} cannot be read: {error.strerror}") from error
    return read_root_key(path)


def _parsed(content: bytes) -> bytes | None:
    # 32 printable characters are half a key in hex or a passphrase, never 32 random bytes.
    for raw in (content, content.removesuffix(b"\n"), content.removesuffix(b"\r\n")):
        if len(raw) == KEY_BYTES and not (raw.isascii() and raw.decode("ascii").isprintable()):
            return raw
    text = content.strip()
    for decode in (binascii.unhexlify, _base64):
        try:
            secret = decode(text)
        except (binascii.Error, ValueError):
            continue
        if len(secret) == KEY_BYTES:
            return secret
    return None


def _base64(text: bytes) -> bytes:
    return base64.b64decode(text, validate=True)


def make_pending(data_dir: Path) -> RootKey:
    """Return the pending key of an earlier start, else create one; it is not valid before `publish`."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise VaultError(
            f"The data directory {data_dir} cannot be made: {reason(error, data_dir)}"
        ) from error
    pending = data_dir / PENDING_NAME
    write_root_key(pending, new_key(), keep_existing=True)
    return read_root_key(pending)


def load_pending(data_dir: Path) -> RootKey | None:
    return _read_if_present(data_dir / PENDING_NAME)


def publish(data_dir: Path, key: RootKey) -> RootKey:
    """Turn the pending key into `master.key`, which must not exist with other content."""
    final = data_dir / FILE_NAME
    write_root_key(final, key.secret, keep_existing=True)
    stored = read_root_key(final)
    if stored.secret != key.secret:
        raise VaultError(f"{final} appeared with another key while the root key was being made")
    discard_pending(data_dir)
    return stored


def discard_pending(data_dir: Path) -> None:
    try:
        (data_dir / PENDING_NAME).unlink()
    except FileNotFoundError:
        return
    _sync_directory(data_dir)


def write_root_key(path: Path, secret: bytes, *, keep_existing: bool = False) -> None:
    """Write 64 hex digits, mode 0600; all or nothing, even if the power fails; never overwrite.

    An existing file is a VaultError, or left as it is with `keep_existing`.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secret.hex().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.link(name, path)  # unlike rename, a link never replaces a file that is there
        finally:
            os.unlink(name)
        _sync_directory(path.parent)
    except FileExistsError as error:
        if not keep_existing:
            raise VaultError(f"{path} exists already and is not overwritten") from error
    except OSError as error:
        raise VaultError(f"The root key cannot be written to {path}: {reason(error, path)}") from error


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
