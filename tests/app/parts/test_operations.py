"""The composition root of devices: plugins and settings decide what the platforms are."""

from netautod.app.parts.operations import platforms_of
from netautod.app.plugins.loading import LoadedPlugins
from netautod.app.plugins.manager import PluginManager
from netautod.devices.settings import DeviceSettings
from netautod.ssh.platform.model import CaptureItem
from netautod.ssh.platform.registry import PlatformRegistry


def platforms(settings: DeviceSettings) -> PlatformRegistry:
    return platforms_of(PluginManager(LoadedPlugins()), settings)


def test_linux_is_read_by_its_own_list_unless_the_settings_have_one() -> None:
    assert platforms(DeviceSettings()).get("linux") == PlatformRegistry().get("linux")
    chosen = platforms(DeviceSettings(linux_capture=("/etc/hosts", "-ip route show"))).get("debian")
    assert chosen.capture == (
        CaptureItem(file="/etc/hosts"),
        CaptureItem(command="ip route show", optional=True),
    )
