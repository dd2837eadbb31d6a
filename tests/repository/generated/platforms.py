"""The page of platforms and their device types."""

from netautod.assembly.network.sessions import build_platforms
from netautod.transport.ssh.platform.model import Platform
from tests.repository.generated.installation import configuration, plugins
from tests.repository.generated.markdown import code, page, table


def platforms() -> str:
    registry = build_platforms(plugins(), configuration().settings.devices)
    found = [registry.get(name) for name in sorted(registry.names())]
    rows = [
        (code(one.name), ", ".join(map(code, one.aliases)), _reads(one), ", ".join(_parts(one)))
        for one in found
    ]
    return page(
        "Platforms",
        f"Look up the `device_type` of a device here. netautod knows {len(found)} platforms. A device may "
        "also "
        "have one of the other names; any unknown name is treated as `generic`. `netautod platform try HOST "
        "--platform NAME` shows how a platform gets on with your device, and a plugin can "
        "[add one](../extend/platforms.md).",
        table(("device_type", "Other names", "Backup reads", "Also kept"), rows),
    )


def _reads(platform: Platform) -> str:
    return ", ".join(code(item.command or item.file or "") for item in platform.capture)


def _parts(platform: Platform) -> list[str]:
    return [part.name for part in platform.parts]
