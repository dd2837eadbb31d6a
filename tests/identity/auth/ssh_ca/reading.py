"""What `ssh-keygen` says of revocation lists."""

import asyncio
import shutil
from asyncio.subprocess import DEVNULL, PIPE

KEYGEN = shutil.which("ssh-keygen")


async def said(*arguments: str) -> tuple[int, str]:
    """Exit code and output; needs KEYGEN."""
    assert KEYGEN is not None
    process = await asyncio.create_subprocess_exec(KEYGEN, *arguments, stdout=PIPE, stderr=DEVNULL)
    told, _ = await process.communicate()
    return process.returncode or 0, told.decode()


def listed(text: str) -> dict[str, set[int]]:
    """The numbers by authority that `ssh-keygen -Ql` prints."""
    found: dict[str, set[int]] = {}
    for line in text.splitlines():
        if line.startswith("# CA key"):
            now = found.setdefault(line.split()[-1], set())
        elif line.startswith("serial:"):
            first, _, last = line.split()[1].partition("-")
            now |= set(range(int(first), int(last or first) + 1))
    return found
