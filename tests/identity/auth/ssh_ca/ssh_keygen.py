"""The output of `ssh-keygen` on revocation lists."""

import asyncio
import shutil
from asyncio.subprocess import DEVNULL, PIPE

KEYGEN = shutil.which("ssh-keygen")


async def ssh_keygen(*arguments: str) -> tuple[int, str]:
    """Return exit code and output; needs KEYGEN."""
    assert KEYGEN is not None
    process = await asyncio.create_subprocess_exec(KEYGEN, *arguments, stdout=PIPE, stderr=DEVNULL)
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


def listed(text: str) -> dict[str, set[int]]:
    """Return the numbers by authority that `ssh-keygen -Ql` prints."""
    found: dict[str, set[int]] = {}
    for line in text.splitlines():
        if line.startswith("# CA key"):
            now = found.setdefault(line.split()[-1], set())
        elif line.startswith("serial:"):
            first, _, last = line.split()[1].partition("-")
            now |= set(range(int(first), int(last or first) + 1))
    return found
