"""Which tests are of one process: those of a file, and all that look at the console in a browser."""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

# They share a browser and a service, which take longer to start than most of them.
TOGETHER = ("tests/browser/",)


class Together(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    def _split_scope(self, nodeid: str) -> str:
        """The work unit of a test."""
        return next((folder for folder in TOGETHER if nodeid.startswith(folder)), nodeid.split("::", 1)[0])


def scheduler(config: pytest.Config, log: Any) -> Together | None:
    """For `--dist loadfile`, which .pytest.ini asks for; None: that of xdist."""
    return Together(config, log) if config.getvalue("dist") == "loadfile" else None
