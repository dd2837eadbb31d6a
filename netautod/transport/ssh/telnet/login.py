"""The login that a device asks for on its terminal, where the platform does not say how."""

import re
from dataclasses import replace

from netautod.transport.ssh.platform.model import LoginDialog, Platform

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


def with_login(platform: Platform) -> Platform:
    """Return the platform as it appears where the transport has no login (telnet, SSH without one).

    The device asks in the platform's own words or in those that all devices use.
    """
    own = platform.login
    user = _either(own.user_prompt if own is not None else None, _USER)
    password = _either(own.password_prompt if own is not None else None, _PASSWORD)
    return replace(platform, login=LoginDialog(user_prompt=user, password_prompt=password))


def _either(own: re.Pattern[str] | None, common: re.Pattern[str]) -> re.Pattern[str]:
    return common if own is None else re.compile(f"(?:{own.pattern})|(?i:{common.pattern})", own.flags)
