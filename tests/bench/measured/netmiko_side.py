"""Nornir with netmiko in threads, reading the running-config: what people script today.

`python -m tests.bench.measured.netmiko_side <threads> <port> ...` says the seconds and the CPU seconds of
all.
"""

import importlib
import logging
import resource
import sys
import time
from typing import Any

from tests.bench.measured.device_farm import PASSWORD, USERNAME
from tests.bench.measuring.children import say

END = r"\nend\s+\S+#\s*$"
NEEDED = "it needs nornir and netmiko: pip install nornir nornir-netmiko"


def main(threads: int, ports: list[int]) -> None:
    core = importlib.import_module("nornir.core")
    inventory = importlib.import_module("nornir.core.inventory")
    runners = importlib.import_module("nornir.plugins.runners")
    netmiko_send_command = importlib.import_module("nornir_netmiko.tasks").netmiko_send_command
    importlib.import_module("nornir.core.plugins.connections").ConnectionPluginRegister.auto_register()
    hosts = inventory.Hosts(
        {
            str(port): inventory.Host(
                name=str(port),
                hostname="127.0.0.1",
                port=port,
                username=USERNAME,
                password=PASSWORD,
                platform="cisco_ios",
            )
            for port in ports
        }
    )
    nornir = core.Nornir(
        inventory=inventory.Inventory(hosts=hosts), runner=runners.ThreadedRunner(num_workers=threads)
    )
    started, cpu = time.perf_counter(), _cpu_seconds()

    def read(task: Any) -> None:
        """Hangs up at once, as a fleet run must: nornir keeps connections open until the end otherwise."""
        # By itself it takes an early prompt for the end when a device answers late.
        read = {"command_string": "show running-config", "expect_string": END, "read_timeout": 60}
        task.run(task=netmiko_send_command, severity_level=logging.DEBUG, **read)
        task.host.close_connections()

    results = nornir.run(task=read)
    seconds = time.perf_counter() - started
    failed = [name for name, result in results.items() if result.failed]
    if failed:
        raise SystemExit(f"netmiko could not read {len(failed)} of {len(ports)} devices")
    say({"seconds": seconds, "cpu_seconds": _cpu_seconds() - cpu})


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(int(sys.argv[1]), [int(port) for port in sys.argv[2:]])
