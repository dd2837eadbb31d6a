"""The program that runs switches of fake-switches until its input ends.

Its arguments: the folder with the packages, the user, the password (that of enable, too), and PORT=MODEL for
each switch.
"""

import os
import sys
from importlib import import_module


def serve(folder: str, username: str, password: str, *switches: str) -> None:
    sys.path.insert(0, folder)
    factory = import_module("fake_switches.switch_factory").SwitchFactory()
    service = import_module("fake_switches.transports.ssh_service").SwitchSshService
    reactor = import_module("twisted.internet.reactor")
    for switch in switches:
        port, _, model = switch.partition("=")
        core = factory.get(model, "sw1", password)
        users = {username: password.encode()}
        service(ip="127.0.0.1", port=int(port), switch_core=core, users=users).hook_to_reactor(reactor)
    reactor.callInThread(_end_with_input)
    reactor.run()


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve(*sys.argv[1:])
