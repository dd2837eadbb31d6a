"""Organizations for the tests of plugins, one after the other: a process for each would take seconds.

`python -m netautod.cli.people.organizations_by_line --data-dir DIR --config FILE` reads lines `ORGANIZATION
ADMIN` and answers each with the password of the new administrator. `netautod.testing` starts it.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from netautod.assembly.configuration import load
from netautod.assembly.settings import Settings
from netautod.cli.installation import opened
from netautod.cli.output import say


async def create(settings: Settings, lines: Iterable[str]) -> None:
    async with opened(settings, makes_one=True) as installation:
        for line in lines:
            name, admin = line.split()
            made = await installation.people.organizations.create_organization(
                name, admin=admin, password=None
            )
            say(made.generated_password or "")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    parser.add_argument("--data-dir", required=True)
    parsed = parser.parse_args()
    configuration = load(
        file=Path(parsed.config),
        environment=os.environ,
        flags={"data_dir": parsed.data_dir},
        warn=lambda text: None,
    )
    asyncio.run(create(configuration.settings, sys.stdin))
    return 0


if __name__ == "__main__":
    sys.exit(main())
