"""Wrong passwords and codes in forms: the form shows them, and the user is not sent to the login."""

from collections.abc import Awaitable
from typing import TypeVar

from netautod.core.errors import InvalidInput, Unauthenticated
from netautod.core.identity.refusals import TokenRefused

T = TypeVar("T")


async def in_the_form(work: Awaitable[T]) -> T:
    """Run the work and raise InvalidInput in the place of Unauthenticated, unless the session itself is
    refused.
    """
    try:
        return await work
    except TokenRefused:
        raise
    except Unauthenticated as error:
        raise InvalidInput(error.text) from error
