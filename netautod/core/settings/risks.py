"""Insecure settings: how a section declares which of its values are a risk, and what was found.

A section names its risks in a class variable `RISKS`. One that is `refused` keeps the service from starting
until the administrator accepts it; any other one is a warning, until it is accepted.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

S = TypeVar("S")


@dataclass(frozen=True, kw_only=True)
class RiskRule(Generic[S]):
    """A rule about an insecure setting. `found` returns what of a section is at risk, in words without
    secrets.

    `name` is what administrators accept it by; sections may share one. `text` says in a sentence, without a
    full stop, what can happen. `cause` tells the manual which settings bring it about.
    """

    name: str
    text: str
    found: Callable[[S], Iterable[str]]
    refused: bool = False
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class Risk:
    """A risk that the settings take. `text` says what can happen and where it stands."""

    name: str
    text: str

    def to_json(self) -> dict[str, str]:
        return {"name": self.name, "text": self.text}

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


@dataclass(frozen=True, kw_only=True)
class FoundRisks:
    """The risks of all settings. `refused`: the service must not start; `warned`: it starts and logs them."""

    refused: tuple[Risk, ...] = ()
    warned: tuple[Risk, ...] = ()


def rules_of(declared: Any) -> Sequence[RiskRule[Any]]:
    """Return the rules that a section (or its class) declares."""
    found: Sequence[RiskRule[Any]] = getattr(declared, "RISKS", ())
    return found


def judged(rules: Iterable[tuple[RiskRule[Any], Any]], accepted: Iterable[str]) -> FoundRisks:
    """Apply the rules to their sections. An accepted refusal becomes a warning, an accepted warning
    nothing."""
    known = frozenset(accepted)
    details: dict[str, tuple[RiskRule[Any], list[str]]] = {}
    for rule, section in rules:
        details.setdefault(rule.name, (rule, []))[1].extend(rule.found(section))
    refused, warned = [], []
    for rule, found in details.values():
        if not found:
            continue
        risk = Risk(name=rule.name, text=f"{rule.text} ({', '.join(found)})")
        if rule.refused and rule.name not in known:
            refused.append(risk)
        elif rule.refused or rule.name not in known:
            warned.append(risk)
    return FoundRisks(refused=tuple(refused), warned=tuple(warned))
