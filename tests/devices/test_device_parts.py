"""The composition root of devices: plugins and settings decide what the platforms are."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from netautod.device_parts import DeviceParts, device_sessions
from netautod.foundation import Foundation
from netautod.leases.named import NamedLeases
from netautod.plugin_manager import PluginManager
from netautod.settings import Devices, Settings
from netautod.ssh.platform_model import CaptureItem
from netautod.ssh.platforms import PlatformRegistry


def platforms(settings: Devices) -> PlatformRegistry:
    base = SimpleNamespace(settings=Settings(data_dir=Path("unused"), devices=settings), audit=None)
    parts = SimpleNamespace(devices=None, credentials=None)
    return device_sessions(
        cast(Foundation, base), cast(DeviceParts, parts), PluginManager(), cast(NamedLeases, None)
    ).platforms


def test_linux_is_read_by_its_own_list_unless_the_settings_have_one() -> None:
    assert platforms(Devices()).get("linux") == PlatformRegistry().get("linux")
    chosen = platforms(Devices(linux_capture=("/etc/hosts", "-ip route show"))).get("debian")
    assert chosen.capture == (
        CaptureItem(file="/etc/hosts"),
        CaptureItem(command="ip route show", optional=True),
    )
