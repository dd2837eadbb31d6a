"""The platform that the manual shows is one."""

import re
from pathlib import Path

from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.manual import page


def test_the_example_is_a_platform(tmp_path: Path) -> None:
    block = re.search(r"<!-- platform example -->\n```toml\n(.*?)```", page("extend/platforms.md"), re.DOTALL)
    assert block is not None
    path = tmp_path / "acme_os.toml"
    path.write_text(block[1])
    assert PlatformRegistry().register(path).name == "acme_os"
