"""The bounds of the settings of authentication: the last accepted value, and the first refused one."""

from pathlib import Path
from typing import Any

import pytest

from netautod.core.settings.field import SettingsError
from netautod.core.settings.reader import Reader
from netautod.identity.auth.settings import AuthSettings, LicenseSettings, SshCaSettings

BOUNDS: list[tuple[str, float, float]] = [
    ("auth.access_token_seconds", 600, 599),
    ("auth.refresh_token_days", 0.01, 0.009),
    ("auth.refresh_family_days", 0.01, 0.009),
    ("auth.api_token_days", 0.01, 0.009),
    ("auth.password_min_length", 8, 7),
    ("auth.password_min_length", 256, 257),
    ("auth.session_cache_seconds", 0, -0.001),
    ("auth.session_cache_seconds", 1, 1.001),
    ("auth.directory_lookup_seconds", 1, 0),
    ("auth.lockout_failures", 1, 0),
    ("auth.lockout_window", 1, 0),
    ("auth.lockout_seconds", 1, 0),
    ("license.seats", 0, -1),
    ("license.seat_idle_minutes", 0.01, 0.009),
]
SECTIONS: dict[str, Any] = {"auth": AuthSettings, "license": LicenseSettings, "ssh_ca": SshCaSettings}


def read(file: Path, name: str, value: float) -> float:
    section, _, key = name.partition(".")
    file.write_text(f"[{section}]\n{key} = {value}\n")
    found: float = getattr(
        Reader(file=file, environment={}, flags={}).section(section, SECTIONS[section]), key
    )
    return found


@pytest.mark.parametrize(("name", "taken", "refused"), BOUNDS)
def test_bounds(tmp_path: Path, name: str, taken: float, refused: float) -> None:
    file = tmp_path / "netautod.toml"
    assert read(file, name, taken) == taken
    with pytest.raises(SettingsError, match=name):
        read(file, name, refused)


def test_defaults() -> None:
    """Check the values of an installation without settings, as the manual gives them."""
    auth, seats = AuthSettings(), LicenseSettings()
    lives = (auth.refresh_token_days, auth.refresh_family_days, auth.api_token_days)
    assert auth.access_token_seconds == 3600
    assert lives == (7.0, 30.0, 90.0)
    assert auth.password_min_length == 12
    assert auth.session_cache_seconds == 1.0
    assert (auth.directory_lookup_seconds, auth.require_otp_roles) == (900, ())
    assert (auth.lockout_failures, auth.lockout_window, auth.lockout_seconds) == (10, 900, 900)
    assert seats.seats == 0
    assert seats.seat_idle_minutes == 120.0
    assert SshCaSettings().reserved_principals == ("root",)
