"""The verdict on each mutant, in as many copies of the tree at once as there are workers."""

import asyncio
import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutants.copies import NO_TESTS, TEST_SECONDS, Copy, Server
from tests.mutants.coverage import Coverage
from tests.mutants.groups import Group
from tests.mutants.mutant import Mutant

# A test that takes this long may have failed for its own reasons: it is asked again without the mutant.
DOUBTFUL_SECONDS = 1.0
MAP_SECONDS = 3600.0


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`killed`, `survived` or `equivalent`; `by` is the test that failed, or why it is the same program."""

    group: str
    mutant: str
    verdict: str
    by: str = ""
    text: str = ""


class Judge:
    """`known` are verdicts of an earlier run that stand; new ones are written to `record` as they fall."""

    def __init__(self, work: Path, equivalents: dict[str, str], tell: Callable[[Verdict], None]) -> None:
        self._record = work / "verdicts.jsonl"
        self._work = work
        self._equivalents = equivalents
        self._tell = tell
        self._coverages: dict[str, Coverage] = {}
        self._mapping = asyncio.Lock()
        self.verdicts: list[Verdict] = []

    def known(self) -> dict[str, Verdict]:
        """Those killed before. A survivor is asked again, since there may be a test for it by now."""
        lines = self._record.read_text().splitlines() if self._record.exists() else []
        found = [Verdict(**json.loads(line)) for line in lines]
        return {verdict.mutant: verdict for verdict in found if verdict.verdict == "killed"}

    async def all(self, drawn: list[tuple[Group, Mutant]], copies: list[Copy]) -> None:
        """Group by group, since what is collected serves all mutants of a group."""
        known = self.known()
        for group in dict.fromkeys(group for group, _ in drawn):
            waiting = []
            for mutant in (mutant for of, mutant in drawn if of is group):
                verdict = known.get(mutant.name) or self._same(group, mutant)
                if verdict is None:
                    waiting.append(mutant)
                else:
                    self._fell(verdict, known)
            waiting.reverse()
            await asyncio.gather(*(self._work_off(group, waiting, copy) for copy in copies if waiting))

    def _same(self, group: Group, mutant: Mutant) -> Verdict | None:
        reason = self._equivalents.get(mutant.name)
        if reason is None:
            return None
        return Verdict(group=group.name, mutant=mutant.name, verdict="equivalent", by=reason)

    def _fell(self, verdict: Verdict, known: Collection[str] = ()) -> None:
        self.verdicts.append(verdict)
        self._tell(verdict)
        if verdict.mutant not in known:
            with self._record.open("a") as record:
                record.write(json.dumps(asdict(verdict)) + "\n")

    async def _work_off(self, group: Group, waiting: list[Mutant], copy: Copy) -> None:
        copy.with_slow = group.with_slow
        coverage = await self._coverage(group, copy)
        if not waiting:
            return
        async with copy.serving(group.tests) as server:
            while waiting:
                self._fell(await self._judged(group, waiting.pop(), copy, server, coverage))

    async def _judged(
        self, group: Group, mutant: Mutant, copy: Copy, server: Server, coverage: Coverage
    ) -> Verdict:
        tests = coverage.tests(mutant)
        if not tests:  # a pytest that is given none would fail for its own reasons
            none = "no test executes its file"
            return Verdict(group=group.name, mutant=mutant.name, verdict="survived", by=none)
        limit = 3 * sum(coverage.seconds[test] for test in tests) + 4 * TEST_SECONDS
        with copy.holding(mutant):
            ended = await server.run(mutant, tests, limit, anew=not coverage.executes(mutant))
        if coverage.seconds.get(ended.test, 0) > DOUBTFUL_SECONDS:
            alone = await server.run(None, [ended.test], limit)
            if alone.code != 0:  # it says nothing about the mutant; the others have to
                with copy.holding(mutant):
                    ended = await server.run(mutant, [test for test in tests if test != ended.test], limit)
        survived = ended.code in (0, NO_TESTS)
        by = f"{len(tests)} tests passed" if survived else ended.test or "nothing could be collected"
        word = "survived" if survived else "killed"
        return Verdict(group=group.name, mutant=mutant.name, verdict=word, by=by, text=ended.text)

    async def _coverage(self, group: Group, copy: Copy) -> Coverage:
        """Made once for the files and the tests as they are."""
        async with self._mapping:
            if group.name not in self._coverages:
                kept = self._work / f"{group.name}-{group.state(copy.root)}.json"
                if not kept.exists():
                    found = await copy.map(group.tests, group.paths(copy.root), MAP_SECONDS)
                    kept.write_text(json.dumps(found))
                self._coverages[group.name] = Coverage.of(json.loads(kept.read_text()))
            return self._coverages[group.name]
