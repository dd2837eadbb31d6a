"""The command line of a simulated Cisco IOS device."""

import asyncio
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netautod.testing.tty import Tty

_MORE = " --More-- "
_ERASE = "\b" * 9 + " " * 8 + "\b" * 9  # what IOS sends after a key: the cursor is back in the first column
_LOG_LINE = "*Nov 21 06:45:01.123: %LINK-3-UPDOWN: Interface GigabitEthernet1/0/7, changed state to up\n"
_INVALID = "% Invalid input detected at '^' marker.\n\n"
_VERSION = "Cisco IOS Software, C2960X Software (C2960X-UNIVERSALK9-M), Version 15.2(7)E3, RELEASE SOFTWARE\n"


async def serve(tty: "Tty") -> None:
    """Runs the session until the user leaves or the connection ends."""
    device = tty.device
    if device.faults.silent:
        await asyncio.Event().wait()
    await tty.write(device.banner)
    if device.faults.question is not None:
        await tty.read_line(device.faults.question, hidden=True)
        return tty.exit(1)
    await _prompt(tty)
    while True:
        command = (await tty.read_line()).strip()
        await asyncio.sleep(device.latency)
        if command in ("exit", "quit", "logout"):
            return tty.exit()
        if command == "enable":
            await _enable(tty)
        elif command in device.questions:
            device.answers.append(await tty.read_line(device.questions[command], hidden=True))
        elif command == "disable":
            tty.privileged = False
        elif match := re.fullmatch(r"terminal length (\d+)", command):
            tty.lines_per_page = 24 if device.faults.ignore_paging_off else int(match[1])
        elif re.fullmatch(r"terminal width \d+", command):
            pass  # nothing here wraps
        elif command and not await _print(tty, _output(tty, command)):
            return None
        await _prompt(tty)


async def _prompt(tty: "Tty") -> None:
    name = tty.device.prompt or tty.device.hostname
    await tty.write(name + ("#" if tty.privileged else ">"))
    if tty.device.faults.log_after_prompt:
        await tty.write("\n" + _LOG_LINE)


async def _enable(tty: "Tty") -> None:
    if tty.privileged:
        return
    for _ in range(3):
        given = await tty.read_line("Password: ", hidden=True)
        await tty.write("\n")
        if given == tty.device.enable_password:
            tty.privileged = True
            return
    await tty.write("% Bad secrets\n\n")


def _output(tty: "Tty", command: str) -> str:
    device = tty.device
    if command in device.responses:
        return device.responses[command]
    if command == "show version":
        return _VERSION
    if re.fullmatch(r"sho?w? run(ning-config)?", command) and tty.privileged:
        # The clock of a real device drifts, and so does this line between two reads.
        drift = 36028797 + len(device.commands)
        return re.sub(r"(?m)^ntp clock-period \d+", f"ntp clock-period {drift}", device.config)
    return _INVALID


async def _print(tty: "Tty", text: str) -> bool:
    """Prints a command's output with the faults of the device; false when the session is over."""
    faults = tty.device.faults
    while faults.flood:
        await tty.write(text)
        await asyncio.sleep(0)
    for limit in (faults.disconnect_after, faults.stop_after, faults.truncate_after):
        text = text if limit is None else text[:limit]
    if faults.log_every:
        lines = text.splitlines(keepends=True)
        text = "".join(
            line + (_LOG_LINE if number % faults.log_every == 0 and line.endswith("\n") else "")
            for number, line in enumerate(lines, 1)
        )
    await _page(tty, text)
    if faults.disconnect_after is not None:
        await asyncio.sleep(0.05)  # lets the text leave before TCP is cut under it
        tty.cut()
        return False
    if faults.stop_after is not None:
        await asyncio.Event().wait()
    if not text.endswith("\n"):
        await tty.write("\n")
    return True


async def _page(tty: "Tty", text: str) -> None:
    page = tty.lines_per_page
    if page == 0:
        return await tty.write(text)
    lines = text.splitlines(keepends=True)
    shown = page - 1
    await tty.write("".join(lines[:shown]))
    while shown < len(lines):
        key = await tty.read_key(_MORE)
        await tty.write(_ERASE)
        if key == "q":
            return None
        step = 1 if key in "\r\n" else page - 1
        await tty.write("".join(lines[shown : shown + step]))
        shown += step
    return None
