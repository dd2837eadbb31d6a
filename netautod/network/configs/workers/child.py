"""The text worker: a process beside the service that compares and searches texts, off the event loop.

It serves one request at a time and ends when the service closes its standard input, however that happens.
A mistake in the program ends it too, with a traceback on the service's standard error.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netautod.core.errors import InvalidInput
from netautod.core.loop.child_frames import answer, requests
from netautod.network.configs.texts.compare import compared, compared_side_by_side
from netautod.network.configs.texts.diff import CONTEXT
from netautod.network.configs.texts.learned_noise import Rule
from netautod.network.configs.texts.packing import unpacked
from netautod.network.configs.texts.shown_measure import measured_as_shown
from netautod.network.configs.texts.tokens import SecretForm
from netautod.network.configs.workers.redacted_texts import RedactedTexts
from netautod.transport.ssh.platform.redact import clean_lines, redact
from netautod.transport.ssh.platform.registry import PlatformRegistry

Work = Callable[..., Any]


def main() -> None:
    """Serve requests. The first frame holds the platforms and the bytes that the cache may take; then come
    requests.
    """
    pending = requests()
    first = next(pending, None)
    if first is None:
        return
    works = _works(*pickle.loads(first))
    for request in pending:
        name, arguments = pickle.loads(request)
        done, value = _answer(works[name], arguments)
        answer(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL), done=done)


def _works(platforms: PlatformRegistry, cache_bytes: int) -> Mapping[str, Work]:
    texts = RedactedTexts(platforms, capacity=cache_bytes)
    readers = platforms.for_readers
    clean = clean_lines(readers)

    def compare(
        packed: list[bytes],
        device_types: list[str],
        names: list[str],
        secrets: SecretForm | None,
        rules: Sequence[Rule] = (),
        context: int = CONTEXT,
        columns: bool = False,
    ) -> Any:
        of_types = [platforms.get(device_type) for device_type in device_types]
        given = [unpacked(one) for one in packed]
        how: Any = {"readers": readers, "rules": rules, "context": context, "clean": clean}
        if columns:
            return compared_side_by_side(given, of_types, secrets, **how)
        return compared(given, of_types, names, secrets, **how)

    def measure(packed: list[bytes], key: bytes) -> list[tuple[str, int]]:
        shown = (redact(unpacked(one), readers, clean) for one in packed)
        return [measured_as_shown(text, key) for text in shown]

    return {
        "compare": compare,
        "measure": measure,
        "prepare": texts.prepare,
        "learn": texts.learn,
        "search": texts.search,
        "group": texts.group,
    }


def _answer(work: Work, arguments: Mapping[str, Any]) -> tuple[bool, Any]:
    try:
        return True, work(**arguments)
    except InvalidInput as error:
        return False, error.text
