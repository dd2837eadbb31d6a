"""Secrets that go on over several lines, as platforms describe them."""

import re
from collections.abc import Callable, Iterator

from netautod.transport.ssh.platform.model import Platform, SecretPattern


def hide_long_secrets(
    lines: list[str], platform: Platform, stand_in: Callable[[SecretPattern, str], str]
) -> Iterator[str]:
    """Yield the lines; a secret that spans several lines is replaced on its first one.

    One that does not end hides the rest of the text: hiding too much is better than showing a key.
    """
    begins = platform.any_long_secret.match
    if all(secret.until is None for secret in platform.secrets):
        yield from lines
        return
    rest = iter(lines)
    for line in rest:
        if not begins(line):
            yield line
            continue
        item, match = _long_secret(line, platform)
        start = match.start("secret")
        parts, after = [line[start:]], ""
        while (end := item.until.search(parts[-1]) if item.until is not None else None) is None:
            following = next(rest, None)
            if following is None:
                break
            parts.append(following)
        if end is not None:
            after = parts[-1][end.end() :]
            parts[-1] = parts[-1][: end.end()]
        yield line[:start] + stand_in(item, "\n".join(parts)) + after


def _long_secret(line: str, platform: Platform) -> tuple[SecretPattern, re.Match[str]]:
    return next(
        (item, match)
        for item in platform.secrets
        if item.until is not None and (match := item.pattern.match(line)) is not None
    )
