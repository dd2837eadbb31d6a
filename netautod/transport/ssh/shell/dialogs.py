"""The dialogs in which a device asks for a name and a secret: the login on its terminal, and enable.

Each secret is sent once, whatever the device says to it: accounts lock after a few tries.
"""

from collections.abc import Awaitable, Callable

from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import EnableDialog, LoginDialog

# Takes a line to send and the stage, as in Shell; answers the next question of the dialog, or the prompt.
Ask = Callable[[str, str], Awaitable[str]]
Judge = Callable[[str], bool]


async def log_in(
    line: str, dialog: LoginDialog, ask: Ask, *, username: str, password: str | None, is_prompt: Judge
) -> None:
    """Answer the login prompt `line` and return what follows the login; a line that is no prompt needs no
    answer.

    The prompt of a device whose name is `Password` is no question.

    DeviceFailed `auth` when the device refuses it, `prompt` when there is no password to give.
    """
    if dialog.is_user_prompt(line) and not is_prompt(line):
        line = await ask(username, "after the name on its terminal")
    if dialog.password_prompt.search(line) and not is_prompt(line):
        if password is None:
            text = "the device asks for a password on its terminal, the credential has only a key"
            raise DeviceFailed(text, kind="prompt")
        line = await _answer_to(password, ask)
    if dialog.is_dialog_prompt(line) and not is_prompt(line):
        raise DeviceFailed(f"the device refused the login of {username!r} on its terminal", kind="auth")


async def _answer_to(password: str, ask: Ask) -> str:
    try:
        return await ask(password, "after the password on its terminal")
    except DeviceFailed as exc:
        if exc.kind != "lost":
            raise
        # Some devices hang up instead of saying no. Taken as a refusal, as in a login of SSH.
        raise DeviceFailed(
            f"the device hung up on the login on its terminal ({exc.text})", kind="auth"
        ) from exc


async def enable(dialog: EnableDialog, ask: Ask, *, username: str, secret: str | None) -> str:
    """Return the line at which the command ends: a prompt, or the prompt for the secret again after a
    refusal.
    """
    stage = f"after `{dialog.command}`"
    line = await ask(dialog.command, stage)
    if dialog.is_user_prompt(line):
        line = await ask(username, stage)
    if dialog.password_prompt.search(line):
        if secret is None:
            raise DeviceFailed("the device asks for an enable secret, the credential has none", kind="enable")
        line = await ask(secret, stage)
    return line
