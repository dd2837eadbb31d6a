"""The login that a device asks for on its terminal, where the platform does not say how."""

import re
from dataclasses import replace

from netautod.ssh.platform.model import LoginDialog, Platform

# "Username:", "login:", "switch1 login: ", "User Name:"; never "Last login: ..." that is still under way.
_USER = re.compile(
    r"^(?!.*\blast\b)(?:[\w.@()-]{1,64} )?(?:user(?: ?name| ?id)?|login(?: as| name)?|account)\s*[:>]\s*$",
    re.IGNORECASE,
)
_PASSWORD = re.compile(
    r"^(?!.*\b(?:new|old|current|re-?type|re-?enter|repeat|again|confirm|verify|enable|root|sudo)\b)"
    r"(?:[\w.@()'-]{1,64} ){0,4}(?:password|passwd|passcode)(?: for [\w.@-]{1,64})?\s*[:>]\s*$",
    re.IGNORECASE,
)


def with_login(platform: Platform, *, name_first: bool = False) -> Platform:
    """The platform as it is met where the transport had no login of its own (telnet, SSH without one).

    With `name_first` it had one, and what asks for a password alone is not the login.
    """
    if platform.login is not None:
        return platform
    login = LoginDialog(user_prompt=_USER, password_prompt=_PASSWORD, name_first=name_first)
    return replace(platform, login=login)
