"""The composition root of devices: plugins and settings decide what the platforms are."""

from netautod.app.parts.devices import platforms_of
from netautod.app.plugins.manager import PluginManager
from netautod.app.settings import Devices
from netautod.ssh.platform.model import CaptureItem
from netautod.ssh.platform.registry import PlatformRegistry


def platforms(settings: Devices) -> PlatformRegistry:
    return platforms_of(PluginManager(), settings)


def test_linux_is_read_by_its_own_list_unless_the_settings_have_one() -> None:
    assert platforms(Devices()).get("linux") == PlatformRegistry().get("linux")
    chosen = platforms(Devices(linux_capture=("/etc/hosts", "-ip route show"))).get("debian")
    assert chosen.capture == (
        CaptureItem(file="/etc/hosts"),
        CaptureItem(command="ip route show", optional=True),
    )
