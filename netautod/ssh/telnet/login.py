"""The login that a telnet server asks for on its terminal, where the platform does not say how."""

import re
from dataclasses import replace

from netautod.ssh.platform.model import LoginDialog, Platform

# "Username:", "login:", "switch1 login: ", "User Name:"; never "Last login: ..." that is still under way.
_USER = re.compile(
    r"^(?!.*\blast\b)(?:[\w.@()-]{1,64} )?(?:user(?: ?name| ?id)?|login(?: as| name)?|account)\s*[:>]\s*$",
    re.IGNORECASE,
)
_PASSWORD = re.compile(
    r"^(?:[\w.@()'-]{1,64} ){0,4}(?:password|passwd|passcode)(?: for [\w.@-]{1,64})?\s*[:>]\s*$",
    re.IGNORECASE,
)


def with_login(platform: Platform) -> Platform:
    """The platform as it is met over telnet, which has no login of its own."""
    if platform.login is not None:
        return platform
    return replace(platform, login=LoginDialog(user_prompt=_USER, password_prompt=_PASSWORD))
