"""Wrong passwords and codes in forms: the form shows them, and the user is not sent to the login."""

import re
from collections.abc import Awaitable
from typing import TypeVar

from netautod.core.errors import InvalidInput, Unauthenticated
from netautod.core.identity.refusals import TokenRefused

T = TypeVar("T")
_ONE = re.compile(r"\b1 attempts\b")


async def in_the_form(work: Awaitable[T]) -> T:
    """Run the work and raise InvalidInput in the place of Unauthenticated, unless the session itself is
    refused.

    The API has one form for every number ("1 attempts remaining"), for programs; a person reads the singular.
    """
    try:
        return await work
    except TokenRefused:
        raise
    except Unauthenticated as error:
        raise InvalidInput(_ONE.sub("1 attempt", error.text)) from error
