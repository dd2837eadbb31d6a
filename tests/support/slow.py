"""Which tests the README's command leaves out beside those that are marked in their files; CI runs all."""

import os
from collections import Counter

import pytest

from tests.mutants.watching import VARIABLE

CASES = 2  # of each test in FEW_CASES, and of each that has a database
DATABASES = {"mongo_uri", "databases", "database", "module_database", "fresh_module_database"}

# They start whole services, nodes or a browser, or talk to them for long.
WHOLE = (
    "tests/bench/",
    "tests/browser/",
    "tests/e2e/",
    "tests/faults/",
    "tests/upgrade/",
    "tests/attacks/test_leaving_no_trace.py",
    "tests/attacks/test_login_holds.py",
    "tests/attacks/test_stopping_a_node.py",
    "tests/attacks/test_taking_secrets.py",
    "tests/network/configs/capture/test_fakenos.py",
    "tests/network/configs/capture/test_linux.py",
    "tests/plugins/oidc/test_real_providers.py",
    "tests/plugins/snmp/test_live_lldpd.py",
    "tests/plugins/test_plugin_guide.py",
    "tests/transport/ssh/platforms/test_dialogs_corpus.py",
    "tests/transport/ssh/platforms/test_failed_reads.py",
    "tests/transport/ssh/test_fake_switches.py",
    "tests/transport/ssh/test_frr.py",
)

# One of each kind stays: a browser, a service that runs, its unit, a command that the database refuses.
STAY = (
    "tests/browser/test_login.py",
    "tests/e2e/test_polling.py",
    "tests/e2e/test_units.py",
    "tests/faults/test_refused_commands.py",
)

# The same for every platform, route, permission or page: the first cases of each test stay.
FEW_CASES = (
    "tests/assembly/test_permissions.py",
    "tests/attacks/",
    "tests/browser/",
    "tests/documents/rendering/test_attacks.py",
    "tests/http/conditions/test_conditional.py",
    "tests/http/test_keyed_routes.py",
    "tests/identity/auth/attacks/test_routes.py",
    "tests/maintenance/test_doctor.py",
    "tests/network/discovery/tables/test_hostile.py",
    "tests/plugins/cli/test_whole.py",
    "tests/transport/ssh/platforms/",
)


def mark_slow(items: list[pytest.Item]) -> None:
    """Mark them, so that `-m slow` and `-m "not slow"` select as if their files said it.

    Not when mutants are judged: what only a test of these notices is noticed, too.
    """
    if VARIABLE in os.environ:
        return
    cases: Counter[str] = Counter()
    for item in items:
        path = item.nodeid.partition("::")[0]
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        whole = path.startswith(WHOLE) and path not in STAY
        few = path.startswith(FEW_CASES) or not DATABASES.isdisjoint(getattr(item, "fixturenames", ()))
        if whole or (few and cases[test] > CASES):
            item.add_marker(pytest.mark.slow)
