"""The groups of modules that mutants are drawn from, each with the tests of its modules."""

import hashlib
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path

from tests.mutants.mutant import Mutant, mutants_of


@dataclass(frozen=True, kw_only=True)
class Group:
    """`files` are patterns; of the groups that share a file the first one has it."""

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    only_indexes: bool = False
    with_slow: bool = False

    def paths(self, root: Path) -> list[str]:
        found = {path.relative_to(root).as_posix() for glob in self.files for path in root.glob(glob)}
        return sorted(found - self._of_earlier(root))

    def _of_earlier(self, root: Path) -> set[str]:
        if self.only_indexes:
            return set()
        earlier = GROUPS[: GROUPS.index(self)]
        return {path for group in earlier if not group.only_indexes for path in group.paths(root)}

    def state(self, root: Path) -> str:
        """Another one as soon as a file of the group or a test of it is another one."""
        found = hashlib.sha256()
        tests = [path for test in self.tests for path in ((root / test), *(root / test).rglob("*.py"))]
        for path in sorted({*tests, *(root / path for path in self.paths(root))}):
            if path.is_file():
                found.update(str(path.relative_to(root)).encode() + path.read_bytes())
        return found.hexdigest()[:12]

    def mutants(self, root: Path, seed: int) -> list[Mutant]:
        """All of them, in the order of the draw."""
        found = [
            mutant
            for path in self.paths(root)
            for mutant in mutants_of(root, path, only_indexes=self.only_indexes)
        ]
        return sorted(found, key=lambda mutant: mutant.rank(seed))


GROUPS: tuple[Group, ...] = (
    Group(
        name="redaction",
        files=(
            "netautod/secrets/redaction/*.py",
            "netautod/transport/ssh/platform/redact.py",
            "netautod/transport/ssh/platform/long_secrets.py",
            "netautod/transport/ssh/platform/line_memory.py",
            "netautod/network/configs/workers/redacted_texts.py",
            "netautod/activity/audit/details.py",
        ),
        tests=(
            "tests/secrets/redaction",
            "tests/transport/ssh/platform",
            "tests/transport/ssh/platforms",
            "tests/transport/ssh/test_quoted.py",
            "tests/network/configs/texts",
            "tests/network/configs/workers",
            "tests/network/configs/test_search.py",
            "tests/network/configs/test_configs.py",
            "tests/activity/audit/test_details.py",
        ),
    ),
    Group(
        name="outbound",
        files=("netautod/transport/outbound/*.py",),
        tests=("tests/transport/outbound", "tests/plugins/webhook"),
    ),
    Group(
        name="limits",
        files=(
            "netautod/http/limits.py",
            "netautod/http/bodies/fair_share.py",
            "netautod/core/schema/bounds.py",
            "netautod/http/connections/*.py",
            "netautod/http/bodies/*.py",
            "netautod/identity/auth/lockout/*.py",
        ),
        tests=(
            "tests/http",
            "tests/core/test_bounds.py",
            "tests/core/test_large_bodies.py",
            "tests/identity/auth/lockout",
        ),
    ),
    Group(
        name="syncs",
        files=("netautod/network/inventory/sync/*.py", "netautod/network/devices/bindings/*.py"),
        tests=("tests/network/inventory", "tests/network/devices/bindings"),
    ),
    Group(
        name="diffs",
        files=("netautod/network/configs/texts/*.py",),
        tests=("tests/network/configs",),
    ),
    Group(
        name="indexes",
        files=("netautod/**/*.py",),
        tests=(
            "tests/store/test_indexes.py",
            "tests/store/test_declared_indexes.py",
            "tests/assembly/test_query_plans.py",
        ),
        only_indexes=True,
        with_slow=True,
    ),
    Group(
        name="leases",
        files=("netautod/store/leases/*.py",),
        tests=("tests/store/leases", "tests/automation/executions", "tests/faults"),
    ),
    Group(
        name="executions",
        files=("netautod/automation/executions/**/*.py",),
        tests=(
            "tests/automation/executions",
            "tests/automation/tasks",
            "tests/testing/test_blocking.py",
            "tests/automation/system",
            "tests/faults",
        ),
    ),
    Group(name="vault", files=("netautod/secrets/vault/**/*.py",), tests=("tests/secrets/vault",)),
    Group(
        name="auth",
        files=("netautod/identity/auth/**/*.py",),
        tests=("tests/identity/auth", "tests/plugins/oidc"),
    ),
)


def drawn(root: Path, seed: int, count: int, names: list[str]) -> list[tuple[Group, Mutant]]:
    """Of each group in turn the next one, so that the first hundred are as fair a draw as all."""
    groups = [group for group in GROUPS if group.name in names]
    heaps = {group: group.mutants(root, seed) for group in groups}
    taken = [
        (group, mutant)
        for turn in zip_longest(*heaps.values())
        for group, mutant in zip(groups, turn, strict=True)
        if mutant is not None
    ]
    compiled = ((group, mutant) for group, mutant in taken if mutant.compiles(root))
    return list(islice(compiled, count))
