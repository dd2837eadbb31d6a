"""The calls of plugins' providers, guarded against any exception, answer or delay."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, TypeVar

from netautod.core.work.plugin_calls import no_exit
from netautod.plugin_api.auth import AccountEnded, Identity, LoginEnded, LoginRefused, ProviderUnavailable

logger = logging.getLogger(__name__)
T = TypeVar("T")
# The built-in ones end at 180 seconds at the latest, and a turn of a look-up is five minutes.
LONGEST_SECONDS = 240.0


async def call_provider(
    provider: str,
    call: Awaitable[T],
    wanted: type[T] | tuple[type[Any], ...],
    *,
    seconds: float | None = None,
) -> T:
    """Return the provider's answer if it is of a `wanted` type, and comes within `seconds` (None: the longest
    that any provider has).

    Raises what a provider may raise: LoginRefused, AccountEnded, LoginEnded, and ProviderUnavailable.
    Anything else is a mistake in the plugin, is logged as one and becomes ProviderUnavailable.
    """
    try:
        with no_exit():
            async with asyncio.timeout(LONGEST_SECONDS if seconds is None else seconds):
                answer = await call
    except (LoginRefused, AccountEnded, LoginEnded, ProviderUnavailable):
        raise
    except TimeoutError as error:
        raise ProviderUnavailable("it did not answer in time") from error
    except Exception as error:
        logger.exception("the auth provider %s failed", provider)
        raise ProviderUnavailable(f"it failed: {type(error).__name__}") from error
    if not isinstance(answer, wanted):
        raise ProviderUnavailable(f"it answered a {type(answer).__name__}")
    return answer


async def confirm_identity(provider: str, call: Awaitable[Identity | None]) -> Identity | None:
    """Return the identity for a name and a password; None for anything but the right password.

    Raises ProviderUnavailable.
    """
    try:
        return await call_provider(provider, call, (Identity, type(None)))
    except (LoginRefused, AccountEnded, LoginEnded) as refusal:  # it says no in another way
        logger.warning("a login through %s failed: %s", provider, refusal)
        return None
