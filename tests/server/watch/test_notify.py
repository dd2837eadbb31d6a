"""What systemd is told: by a manager that does not read nobody is held up."""

import socket
from pathlib import Path

import pytest

from netautod.server.watch import systemd

# More than the kernel keeps for a reader (unix(7), max_dgram_qlen is 10 unless somebody changes it).
MANY = 3000


@pytest.mark.timeout(60)
def test_signs_of_life_are_dropped_where_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A send that waits would never return: the test would end by its timeout."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        for _ in range(MANY):
            systemd.notify(systemd.ALIVE)
        assert "systemd could not be notified of WATCHDOG=1" in caplog.text
        assert manager.recv(100) == b"WATCHDOG=1"
