"""Wrong passwords and codes in forms: they are told in the form, and send nobody to the login."""

from collections.abc import Awaitable
from typing import TypeVar

from netautod.core.errors import InvalidInput, Unauthenticated
from netautod.core.identity.refusals import TokenRefused

T = TypeVar("T")


async def in_the_form(work: Awaitable[T]) -> T:
    """Raises InvalidInput in the place of Unauthenticated, unless the session itself is refused."""
    try:
        return await work
    except TokenRefused:
        raise
    except Unauthenticated as error:
        raise InvalidInput(error.text) from error
