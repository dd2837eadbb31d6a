"""The exec channels of a simulated Linux host."""

import asyncio
import shlex

from netautod.testing.devices.tty import Tty


async def serve(tty: Tty) -> None:
    """Run the one command of the channel and end it with an exit status."""
    device = tty.device
    command = tty.command or ""
    device.commands.append(command)
    device.note_change()
    await asyncio.sleep(device.latency)
    if device.faults.silent:
        await asyncio.Event().wait()
    output, status = _run(tty, command)
    while device.faults.flood:
        await tty.write(output or "flood\n")
        await asyncio.sleep(0)
    if device.faults.disconnect_after is not None:
        await tty.write(output[: device.faults.disconnect_after])
        await asyncio.sleep(0.05)  # lets the text leave before TCP is cut under it
        return tty.cut()
    await tty.write(output)
    tty.exit(status)
    return None


def _run(tty: Tty, command: str) -> tuple[str, int]:
    """Return output and exit status; `sh -c <script> sh <path>` stands for reading that file (44: there is
    none).
    """
    if command in tty.device.responses:
        return tty.device.responses[command], 0
    words = shlex.split(command)
    if words[:2] == ["sh", "-c"] and len(words) == 5:
        text = tty.device.files.get(words[4])
        return ("", 44) if text is None else (text, 0)
    return "", 127
