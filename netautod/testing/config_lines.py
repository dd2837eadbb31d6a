"""The check of lines of configuration by a platform file, for the tests of platforms."""

from collections.abc import Sequence
from pathlib import Path

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.platform.registry import PlatformRegistry


def check_config_lines(platform_file: Path, lines: Sequence[str]) -> str | None:
    """Return why the service would not send the lines to a device of the platform, None if it would.

    InvalidInput for a faulty file, and for a platform that cannot be changed.
    """
    platform = PlatformRegistry().register(platform_file, override=True)
    if platform.change is None:
        raise InvalidInput(f"{platform_file.name}: there is no [change]")
    try:
        platform.change.lines.check(lines)
    except InvalidInput as refused:
        return refused.text
    return None
