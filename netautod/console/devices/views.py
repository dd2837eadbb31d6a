"""The view models of the pages of one device."""

from collections.abc import Sequence
from dataclasses import dataclass

from netautod.core.pages import PageOf
from netautod.network.configs.backups.info import BackupInfo
from netautod.network.configs.models import Config
from netautod.network.devices.host_keys.models import HostKeyPrompt
from netautod.network.devices.models import Device
from netautod.network.discovery.models import DeviceStatus


@dataclass(frozen=True, kw_only=True)
class DeviceView:
    """A device as its page shows it.

    `tag` names the state that the page shows, for the forms that change it. `prompt` is a host key to decide
    about. `names` holds the names of the referenced records by id, as far as the caller may see them.
    """

    device: Device
    tag: str
    status: DeviceStatus
    backup: BackupInfo
    prompt: HostKeyPrompt | None
    names: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class SummaryView:
    """The contents of the first tab beside the device itself."""

    configs: PageOf[Config]
    noise: Sequence[str]
