"""The composition root of devices: plugins and settings decide what the platforms are."""

from netautod.assembly.network.sessions import build_platforms
from netautod.assembly.settings import table
from netautod.network.devices.settings import DeviceSettings
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod.transport.ssh.platform.model import CaptureItem
from netautod.transport.ssh.platform.registry import PlatformRegistry


def platforms(settings: DeviceSettings) -> PlatformRegistry:
    return build_platforms(PluginManager(LoadedPlugins(table())), settings)


def test_linux_is_read_by_its_own_list_unless_the_settings_have_one() -> None:
    assert platforms(DeviceSettings()).get("linux") == PlatformRegistry().get("linux")
    selected = platforms(DeviceSettings(linux_capture=("/etc/hosts", "-ip route show"))).get("debian")
    assert selected.capture == (
        CaptureItem(file="/etc/hosts"),
        CaptureItem(command="ip route show", optional=True),
    )
