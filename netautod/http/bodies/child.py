"""The body reader: a process beside the service that decodes large JSON and checks it, off the event loop.

Decoding is one call that keeps the interpreter: 100 ms for the worst MiB, in whatever thread. The reader
serves one body at a time and ends when the service closes its standard input, however that happens.
"""

import gc
import pickle

from netautod.core.errors import InvalidInput
from netautod.core.json import values as json_values
from netautod.core.loop.child_frames import answer, requests


def main() -> None:
    gc.disable()  # JSON has no cycles
    for body in requests():
        try:
            value = json_values.decode(body)
        except InvalidInput as error:
            answer(error.text.encode("utf-8", "replace"), done=False)
        else:
            answer(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL), done=True)
