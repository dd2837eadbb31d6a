"""How slowly this machine computes at the moment, so that a limit of processor time holds everywhere.

Processor time does not grow while other programs have the processors, but it does where two programs share
the parts of one core, and on a machine of another make.
"""

import time

_STEPS = 200_000
# What the steps take on a core of 2021 that does nothing else.
_SECONDS = 0.012


def slowness() -> float:
    """By how much a limit that suits a quick idle machine is to be multiplied: 1 or more, measured now."""
    return max(1.0, max(_measured() for _ in range(3)) / _SECONDS)


def _measured() -> float:
    began, total = time.thread_time(), 0
    for number in range(_STEPS):
        total += number & 7
    return time.thread_time() - began
