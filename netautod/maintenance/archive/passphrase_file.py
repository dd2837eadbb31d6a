"""The file with the passphrase of a backup."""

from pathlib import Path

from netautod.core.errors import InvalidInput

LEAST_CHARACTERS = 12
_MOST_BYTES = 4096


def read_passphrase(path: Path) -> str:
    """Return its text without the line end. Raises InvalidInput for a file that cannot be one."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        text = content.decode()
    except OSError as error:
        raise InvalidInput(f"--passphrase-file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"--passphrase-file {path} holds no text in UTF-8") from error
    passphrase = text.removesuffix("\n").removesuffix("\r")
    if "\n" in passphrase or not LEAST_CHARACTERS <= len(passphrase) <= _MOST_BYTES:
        raise InvalidInput(
            f"--passphrase-file {path} must hold one line of at least {LEAST_CHARACTERS} characters"
        )
    return passphrase
