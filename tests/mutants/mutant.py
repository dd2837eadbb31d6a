"""A mutant: one place of one file, and the text that stands there instead."""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.operators import changes, is_key, tests_of


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """`lines` are those of the statement it stands in; `imported`: it takes effect at the import."""

    path: str
    inside: str
    operator: str
    span: tuple[int, int]
    before: str
    after: str
    occurrence: int
    lines: range
    imported: bool

    @property
    def name(self) -> str:
        """The same as long as its function, and what it changes there, stay as they are."""
        place = f"{self.path}::{self.inside}" + (f" #{self.occurrence}" if self.occurrence else "")
        return f"{place}: {' '.join(self.before.split())} -> {' '.join(self.after.split())}"

    def of(self, source: bytes) -> bytes:
        start, end = self.span
        return source[:start] + self.after.encode() + source[end:]

    def compiles(self, root: Path) -> bool:
        try:
            ast.parse(self.of((root / self.path).read_bytes()))
        except SyntaxError:
            return False
        return True

    def rank(self, seed: int) -> bytes:
        """Where the draw takes it: by its name, so that a change of other code does not change the draw."""
        return hashlib.sha256(f"{seed}|{self.name}".encode()).digest()


def mutants_of(root: Path, path: str, *, only_indexes: bool = False) -> list[Mutant]:
    """All mutants of a file, in the order of the file."""
    return _Reader(root, path, only_indexes).read()


class _Reader:
    def __init__(self, root: Path, path: str, only_indexes: bool) -> None:
        self._path = path
        self._source = (root / path).read_bytes()
        self._only_indexes = only_indexes
        self._found: list[Mutant] = []
        self._seen: dict[tuple[str, str, str], int] = {}
        starts = [0]
        for line in self._source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self._starts = starts

    def read(self) -> list[Mutant]:
        tree = ast.parse(self._source)
        for node in tree.body:
            if not self._only_indexes or _declares_indexes(node):
                self._visit(node, (), node, imported=True)
        return self._found

    def _visit(self, node: ast.AST, names: tuple[str, ...], statement: ast.stmt, *, imported: bool) -> None:
        if _is_left_alone(node):
            return
        if isinstance(node, ast.stmt):
            statement = node
        for change_name, made in changes(node):
            self._add(node, change_name, made, names, statement, imported)
        for test, (change_name, made) in tests_of(node):
            self._add(test, change_name, made, names, statement, imported)
        if is_key(node):
            return
        for child, runs_at_import in _children(node, imported):
            inside = (*names, node.name) if isinstance(node, _Scope) else names
            self._visit(child, inside, statement, imported=runs_at_import)

    def _add(
        self,
        node: ast.AST,
        operator: str,
        made: ast.expr | ast.stmt,
        names: tuple[str, ...],
        statement: ast.stmt,
        imported: bool,
    ) -> None:
        assert isinstance(node, ast.expr | ast.stmt)
        span = self._place(node.lineno, node.col_offset), self._place(node.end_lineno, node.end_col_offset)
        before = self._source[slice(*span)].decode()
        after = ast.unparse(ast.fix_missing_locations(made))
        after = f"({after})" if isinstance(made, ast.expr) and not isinstance(made, ast.Constant) else after
        inside = ".".join(names) or "(module)"
        key = (inside, before, after)
        occurrence = self._seen[key] = self._seen.get(key, -1) + 1
        mutant = Mutant(
            path=self._path,
            inside=inside,
            operator=operator,
            span=span,
            before=before,
            after=after,
            occurrence=occurrence,
            lines=_lines(statement),
            imported=imported,
        )
        self._found.append(mutant)

    def _place(self, line: int | None, column: int | None) -> int:
        assert line is not None
        assert column is not None
        return self._starts[line - 1] + column


_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def _children(node: ast.AST, imported: bool) -> Iterator[tuple[ast.AST, bool]]:
    """What stands in the node, and whether it runs at import; not annotations and decorators of classes."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns") or (name == "decorator_list" and isinstance(node, ast.ClassDef)):
            continue
        inside = imported and not (name == "body" and isinstance(node, _Function))
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child, inside


def _is_left_alone(node: ast.AST) -> bool:
    """Texts for people, and what only a type checker reads."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assert():
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Call(func=ast.Name(id="cast" | "TypeVar" | "NewType")):
            return True
        case ast.Subscript(value=ast.Name(id="dict" | "list" | "tuple" | "Mapping" | "Callable")):
            return True
        case _:
            return False


def _declares_indexes(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and "INDEX" in target.id for target in node.targets
    )


def _lines(statement: ast.stmt) -> range:
    """Of a compound statement its head."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno or 0
    return range(statement.lineno, max(last, statement.lineno) + 1)
