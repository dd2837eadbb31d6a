"""Places of a secret outside the settings file: a file of its own, a systemd credential, or the vault."""

from collections.abc import Mapping
from pathlib import Path

from netautod.core.settings.field import SettingsError

FILE_SUFFIX = "_file"
"""`token_file` is the path of the file that holds `token`."""
VAULT_PREFIX = "vault:"
MAX_BYTES = 64 * 1024


def read_secret(path: Path, where: str) -> str:
    """Return the text in the file without the end of its last line. A SettingsError begins with `where`."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"{where}: {path} cannot be read: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise SettingsError(f"{where}: {path} is larger than {MAX_BYTES >> 10} KiB")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{where}: {path} is not a text in UTF-8") from error
    return text.removesuffix("\n").removesuffix("\r")


def credential(environment: Mapping[str, str], key: str) -> Path | None:
    """Return the systemd credential named by the key (`LoadCredential=ldap.bind_password:PATH`,
    systemd.exec(5)).
    """
    folder = environment.get("CREDENTIALS_DIRECTORY")
    if not folder:
        return None
    path = Path(folder) / key
    try:
        path.lstat()
    except FileNotFoundError:
        return None
    except OSError:  # the reader of the file says why it cannot be read
        return path
    return path


def vault_name(value: object) -> str | None:
    """Return the name in `vault:NAME`, also as the only entry of a list; None for another value."""
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str) or not value.startswith(VAULT_PREFIX):
        return None
    return value.removeprefix(VAULT_PREFIX)
