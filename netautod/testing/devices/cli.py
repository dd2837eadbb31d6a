"""The command line of a simulated device after its script, with the faults of the device."""

import asyncio
import re

from netautod.testing.devices.cli_script import CliScript, LoginStep, ModeChange, PagerScript
from netautod.testing.devices.state import LoginAttempt
from netautod.testing.devices.tty import Tty

_PASSWORD_TRIES = 3
_CLOCK = re.compile(r"(\d\d:\d\d:)\d\d")


async def serve(tty: Tty) -> None:
    """Run the session until the user leaves or the connection ends."""
    device = tty.device
    if device.faults.silent:
        await asyncio.Event().wait()
    if await _greet(tty):
        await _prompt(tty)
        while await _obey(tty, (await tty.read_line()).strip()):
            await _prompt(tty)
    tty.exit(1 if device.faults.question is not None else 0)


async def _greet(tty: Tty) -> bool:
    """Print what comes between login and prompt; return false when it ends the session."""
    device = tty.device
    await tty.write(device.banner)
    if device.faults.held is not None:
        await device.faults.held.wait()
    if device.faults.question is not None:
        await tty.read_line(device.faults.question, hidden=True)
        return False
    for step in tty.script.login:
        if step.wait == "key":
            await tty.read_key(step.text)
            await tty.write("\n")
        elif step.wait == "line":
            await tty.read_line(step.text, noted=False)
            if device.faults.echo == "none":
                await tty.write("\n")
        elif step.wait in ("user", "password"):
            if not await _identified(tty, step):
                return False
        else:
            await tty.write(step.text)
    return True


async def _identified(tty: Tty, step: LoginStep) -> bool:
    """Return whether the name or the password that a terminal asks for is right."""
    device = tty.device
    if step.wait == "user":
        return await tty.read_line(step.text, noted=False) == device.username
    wanted = device.password if device.terminal_password is None else device.terminal_password
    for _ in range(_PASSWORD_TRIES):
        given = await tty.read_line(step.text, hidden=True)
        await tty.write("\n")
        device.login_attempts.append(LoginAttempt("terminal", given == wanted))
        device.note_change()
        if given == wanted:
            return True
    return False


async def _prompt(tty: Tty) -> None:
    device = tty.device
    text = tty.script.prompts[tty.mode].replace("{host}", device.prompt or device.hostname)
    await tty.write(text.replace("{count}", str(len(device.commands))))
    if device.faults.log_after_prompt:
        await tty.write("\n" + _log(tty))


async def _obey(tty: Tty, command: str) -> bool:
    """Execute a line; return false when the session is over."""
    script, device = tty.script, tty.device
    await asyncio.sleep(device.latency)
    change = _change(tty, command)
    if change is not None:
        await _enter(tty, change)
    elif command in script.leave:
        await tty.write(script.farewell)
        return False
    elif command in tty.device.questions:
        tty.device.answers.append(await tty.read_line(tty.device.questions[command], hidden=True))
    elif not command or _set_pager(tty, command) or _matches(script.ignored, command):
        pass
    else:
        return await _print(tty, _with_logs(tty, _output(tty, command), device.commands.count(command)))
    return True


def _change(tty: Tty, command: str) -> ModeChange | None:
    for change in tty.script.changes:
        if (not change.modes or tty.mode in change.modes) and re.fullmatch(change.command, command):
            return change
    return None


async def _enter(tty: Tty, change: ModeChange) -> None:
    if change.password_prompt and tty.device.enable_password is not None:
        for _ in range(_PASSWORD_TRIES):
            name = await tty.read_line(change.user_prompt, noted=False) if change.user_prompt else ""
            given = await tty.read_line(change.password_prompt, hidden=True)
            await tty.write("\n")
            if given == tty.device.enable_password and name in ("", tty.device.username):
                break
        else:
            return await tty.write(change.refusal)
    tty.mode = change.to
    return await tty.write(change.output)


def _set_pager(tty: Tty, command: str) -> bool:
    """Set the length of a page; return whether the command is one that does."""
    for pattern in tty.script.pager.off if tty.script.pager is not None else ():
        match = re.fullmatch(pattern, command)
        if match is not None:
            if not tty.device.faults.ignore_paging_off:
                tty.lines_per_page = int(match[1]) if match.groups() else 0
            return True
    return False


def _matches(patterns: tuple[str, ...], command: str) -> bool:
    return any(re.fullmatch(pattern, command) for pattern in patterns)


def _output(tty: Tty, command: str) -> str:
    script, device = tty.script, tty.device
    text = device.responses.get(command)
    for item in script.commands:
        if not re.fullmatch(item.command, command):
            continue
        if item.modes and tty.mode not in item.modes:
            return script.unknown
        if text is None:
            text = device.config if item.output is None else item.output
        break
    if text is None and device.takes_lines and tty.mode == "config":
        device.take_line(command)
        return ""
    if text is None:
        return script.unknown
    return script.before_output + _drifted(script, text, len(device.commands)) + script.after_output


def _drifted(script: CliScript, text: str, by: int) -> str:
    """Return the text with a number that is larger at each reading, as clocks and counters are."""
    match = re.search(script.drifting, text, re.MULTILINE) if script.drifting else None
    if match is None:
        return text
    return text[: match.start(1)] + str(int(match[1]) + by) + text[match.end(1) :]


def _with_logs(tty: Tty, text: str, reading: int) -> str:
    """Return the text of the first, second ... reading of a command, with the log lines that tear
    that one.
    """
    places = tty.device.faults.log_at[reading - 1 : reading]
    for at in sorted(places[0] if places else (), reverse=True):
        text = text[:at] + _log(tty) + text[at:]
    return text


def _log(tty: Tty) -> str:
    """Return a log line, each with another time (or a number where it has none)."""
    device, line = tty.device, tty.script.log_line
    device.logged += 1
    if _CLOCK.search(line) is None:
        return f"{line[:-1]} ({device.logged})\n"
    return _CLOCK.sub(lambda match: f"{match[1]}{device.logged % 60:02}", line, count=1)


async def _print(tty: Tty, text: str) -> bool:
    """Print a command's output with the faults of the device; return false when the session is over."""
    faults = tty.device.faults
    while faults.flood:
        await tty.write(text)
        await asyncio.sleep(0)
    for limit in (faults.disconnect_after, faults.stop_after, faults.truncate_after):
        text = text if limit is None else text[:limit]
    if faults.log_every:
        lines = text.splitlines(keepends=True)
        text = "".join(
            line + (_log(tty) if number % faults.log_every == 0 and line.endswith("\n") else "")
            for number, line in enumerate(lines, 1)
        )
    if faults.hold_at or faults.rest_at:
        await _held(tty, text)
    else:
        await _page(tty, tty.script.pager, text)
    if faults.disconnect_after is not None:
        await asyncio.sleep(0.05)  # lets the text leave before TCP is cut under it
        tty.cut()
        return False
    if faults.stop_after is not None:
        await asyncio.Event().wait()
    if not text.endswith("\n"):
        await tty.write("\n")
    return True


async def _held(tty: Tty, text: str) -> None:
    """Print the text in pieces; each but the first one waits for input, or for a while."""
    faults = tty.device.faults
    places = sorted(at for at in {*faults.hold_at, *faults.rest_at} if at < len(text))
    for start, end in zip([0, *places], [*places, len(text)], strict=True):
        if start in faults.rest_at:
            await asyncio.sleep(faults.rest)
        elif start:
            await tty.something_typed(within=faults.rest or None)
        await tty.write(text[start:end])


async def _page(tty: Tty, pager: PagerScript | None, text: str) -> None:
    page = tty.lines_per_page
    lines = text.splitlines(keepends=True)
    if pager is None or page == 0 or len(lines) < page:
        return await tty.write(text)
    shown = page - 1
    await tty.write("".join(lines[:shown]))
    while shown < len(lines):
        key = await tty.read_key(pager.text)
        step = {" ": page - 1, "\r": 1, "\n": 1, "q": 0}.get(key, page - 1 if key in pager.other_keys else -1)
        if step < 0:
            continue  # a key that it does not know
        await tty.write(pager.erase)
        if step == 0:
            return None
        await tty.write("".join(lines[shown : shown + step]))
        shown += step
    if pager.end_text:
        while await tty.read_key(pager.end_text) != "q":
            pass
        await tty.write(pager.erase)
    return None
