"""The program that runs hosts of fakenos: reads their inventory as a line of JSON, ends with its input."""

import json
import os
import sys

from fakenos import FakeNOS

if __name__ == "__main__":
    FakeNOS(inventory=json.loads(sys.stdin.readline())).start()
    sys.stdin.read()  # ends when the test does, however it ends
    os._exit(0)
