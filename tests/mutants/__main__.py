"""Draws mutants of the product and prints which of them the tests of their modules notice.

`python -m tests.mutants --seed 1 --count 300 [--module NAME]...`; `--work` keeps the maps of what each test
executes and the verdicts: a second run takes killed ones from there, and asks survivors again.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from netautod.store.embedded.mongod import EmbeddedMongo
from tests.mutants.copies import Copy
from tests.mutants.groups import GROUPS, drawn
from tests.mutants.judging import Judge, Verdict

CHECKOUT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str]) -> int:
    names = [group.name for group in GROUPS]
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--module", action="append", choices=names, help="a group; all if there is none")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--wanted", type=float, default=95.0, help="percent of those that change behaviour")
    parser.add_argument("--work", type=Path, help="a folder for what is kept from one run to the next")
    chosen = parser.parse_args(arguments)
    os.nice(15)
    with tempfile.TemporaryDirectory(prefix="netautod-mutants-") as scratch:
        work = chosen.work or Path(scratch)
        work.mkdir(parents=True, exist_ok=True)
        judge = Judge(work, equivalents(), _tell)
        asyncio.run(_judge(judge, chosen, chosen.module or names, Path(scratch)))
    print("\n".join(table(judge.verdicts)))
    return 0 if share(judge.verdicts) >= chosen.wanted else 1


async def _judge(judge: Judge, chosen: argparse.Namespace, names: list[str], scratch: Path) -> None:
    async with EmbeddedMongo(scratch / "mongo") as mongo:
        copies = [Copy(CHECKOUT, scratch / f"copy{number}", mongo.uri) for number in range(chosen.workers)]
        await judge.all(drawn(copies[0].root, chosen.seed, chosen.count, names), copies)


def equivalents() -> dict[str, str]:
    """Mutants that are the same program, with the reason, by their names."""
    listed = tomllib.loads(Path(__file__).with_name("equivalents.toml").read_text())
    return {mutant: same["reason"] for same in listed.get("same", []) for mutant in same["mutants"]}


def share(verdicts: Sequence[Verdict]) -> float:
    """Percent killed of those that change behaviour."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    changing = counts["killed"] + counts["survived"]
    return 100 * counts["killed"] / changing if changing else 100.0


def table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield f"{'module':12} {'drawn':>6} {'killed':>7} {'equivalent':>11} {'survived':>9} {'% killed':>9}"
    for group in [*(group.name for group in GROUPS), "all"]:
        of_group = [verdict for verdict in verdicts if group in ("all", verdict.group)]
        counts = Counter(verdict.verdict for verdict in of_group)
        if of_group:
            yield (
                f"{group:12} {len(of_group):6} {counts['killed']:7} {counts['equivalent']:11}"
                f" {counts['survived']:9} {share(of_group):9.1f}"
            )


def _tell(verdict: Verdict) -> None:
    print(f"{verdict.verdict:10} {verdict.group:10} {verdict.mutant}  [{verdict.by}]", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
