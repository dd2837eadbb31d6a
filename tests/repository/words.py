"""The words of the code: forbidden parts of names, openings of docstrings, subjects of commits.

The rules are those of manual/develop/style.md.

`python -m tests.repository.words [PATH ...]` prints what is wrong in files or folders of the repository.
"""

import ast
import io
import keyword
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = (ROOT / "netautod", ROOT / "plugins")


def _listed(name: str) -> frozenset[str]:
    """Return the words of a file, one on each line."""
    return frozenset((ROOT / "tests" / "data" / "words" / f"{name}.txt").read_text(encoding="utf-8").split())


# Parts of names that say nothing of what a thing is.
FORBIDDEN = _listed("forbidden_names")
# Names that a plugin or a stored record depends on, each with the reason.
KEPT: dict[str, str] = {
    "farewell": "a key of session.toml, and a field of netautod.testing.CliScript",
    "asked_pause": "a name of netautod.plugin_api",
}
CLASS_OPENINGS = frozenset({"A", "An", "The", "Raised"})
BAD_OPENINGS = _listed("bad_openings")
VERBS = _listed("verbs")
_ANY = re.compile("|".join(sorted(FORBIDDEN)), re.IGNORECASE)
LONGEST_SUBJECT = 72  # characters
_SUBJECT = re.compile(r"[\w.][\w.,/ -]*: (?P<verb>[a-z]\w*) \S.*")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def parts(name: str) -> set[str]:
    """Return the words of a name in snake_case or CamelCase, in lower case."""
    return {part.lower() for part in _PARTS.findall(name)}


def bad_names(path: Path, text: str) -> Iterator[str]:
    """Yield a line for each name, and for the file's name, that holds a forbidden word."""
    if parts(path.stem) & FORBIDDEN:
        yield f"{path}: the file's name"
    if _ANY.search(text) is None:  # most files, and reading tokens is slow
        return
    seen = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = token.string
        if token.type != tokenize.NAME or keyword.iskeyword(name) or name in KEPT or name in seen:
            continue
        if parts(name) & FORBIDDEN:
            seen.add(name)
            yield f"{path}:{token.start[0]}: {name}"


def bad_docstrings(path: Path, text: str) -> Iterator[str]:
    """Yield a line for each docstring that does not open as the style page says."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        docstring = ast.get_docstring(node)
        if docstring and not opens_well(node, docstring):
            line = 1 if isinstance(node, ast.Module) else node.lineno
            yield f"{path}:{line}: {docstring.splitlines()[0]}"


def opens_well(node: ast.AST, docstring: str) -> bool:
    """Return whether the first word of a docstring fits what it describes."""
    first = re.split(r"[\s:,;.]", docstring, maxsplit=1)[0]
    if isinstance(node, ast.Module):
        return first not in BAD_OPENINGS
    if isinstance(node, ast.ClassDef):
        return first in CLASS_OPENINGS
    is_property = any(
        "property" in ast.unparse(decorator) for decorator in getattr(node, "decorator_list", ())
    )
    return first in VERBS or (is_property and first in CLASS_OPENINGS)


def subject_fault(subject: str) -> str | None:
    """Return what is wrong with the subject of a commit; None if nothing is."""
    if len(subject) > LONGEST_SUBJECT:
        return f"longer than {LONGEST_SUBJECT} characters"
    match = _SUBJECT.fullmatch(subject)
    if match is None:
        return "not of the form `area: verb object`"
    if match["verb"].capitalize() in BAD_OPENINGS | CLASS_OPENINGS:
        return f"`{match['verb']}` is no verb"
    return "it ends with a full stop" if subject.endswith(".") else None


def findings(places: Iterable[Path]) -> list[str]:
    """Return all that is wrong in the Python files of these files and folders, as `path:line: what`."""
    found = []
    for place in places:
        for path in sorted([place] if place.is_file() else place.rglob("*.py")):
            text, shown = path.read_text(encoding="utf-8"), path.resolve().relative_to(ROOT)
            found += [*bad_names(shown, text), *bad_docstrings(shown, text)]
    return found


def main(arguments: list[str]) -> int:
    """Print the findings of the given places, or of the product; return 1 if there are any."""
    found = findings([Path(one) for one in arguments] or PRODUCT)
    sys.stdout.write("\n".join([*found, f"{len(found)} findings", ""]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
