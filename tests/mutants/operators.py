"""What a mutation changes: each operator looks at one node of a syntax tree and offers other code for it."""

import ast
import copy
import re
from collections.abc import Callable, Iterator

Change = tuple[str, ast.expr | ast.stmt]
"""The name of the operator, and what stands in the place of the node."""
Operator = Callable[[ast.AST], Iterator[Change]]

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
# Operators of the database that another one can stand for without an error.
_QUERIES = {
    "$lt": "$lte",
    "$lte": "$lt",
    "$gt": "$gte",
    "$gte": "$gt",
    "$in": "$nin",
    "$nin": "$in",
    "$eq": "$ne",
    "$ne": "$eq",
    "$set": "$setOnInsert",
    "$setOnInsert": "$set",
    "$push": "$addToSet",
    "$and": "$or",
    "$or": "$and",
    "$max": "$min",
    "$min": "$max",
}


def changes(node: ast.AST) -> Iterator[Change]:
    """Everything that may stand in the place of the node, in an order that does not vary."""
    for operator in _OPERATORS:
        yield from operator(node)


def _comparisons(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for place, found in enumerate(node.ops):
            made = copy.deepcopy(node)
            made.ops[place] = _COMPARISONS[type(found)]()
            yield "comparison", made


def _conditions(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BoolOp):
        made = copy.deepcopy(node)
        made.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield "and-or", made
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not", node.operand
    elif isinstance(node, ast.IfExp):
        made_if = copy.deepcopy(node)
        made_if.body, made_if.orelse = made_if.orelse, made_if.body
        yield "branches", made_if


def _numbers(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield "constant", ast.Constant(node.value + 1)
        yield "constant", ast.Constant(node.value - 1)
    elif isinstance(node.value, str) and node.value in _QUERIES:
        yield "query", ast.Constant(_QUERIES[node.value])


def _arithmetic(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        made = copy.deepcopy(node)
        made.op = _ARITHMETIC[type(node.op)]()
        yield "arithmetic", made


def _names(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMES:
        made = copy.deepcopy(node)
        made.func = ast.Name(_NAMES[node.func.id], ast.Load())
        yield "name", made


def _arguments(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Call):
        return
    for place, keyword in enumerate(node.keywords):
        if keyword.arg not in (None, "strict"):
            made = copy.deepcopy(node)
            del made.keywords[place]
            yield "argument", made
    either_way = isinstance(node.func, ast.Name) and node.func.id in _NAMES
    if (
        len(node.args) > 1
        and not either_way
        and not any(isinstance(each, ast.Starred) for each in node.args[:2])
    ):
        made = copy.deepcopy(node)
        made.args[0], made.args[1] = made.args[1], made.args[0]
        yield "swap", made


def _elements(node: ast.AST) -> Iterator[Change]:
    """One entry of a dictionary (a condition of a filter), or of a list, set or tuple, is missing."""
    if isinstance(node, ast.Dict) and len(node.keys) > 1:
        for place in range(len(node.keys)):
            made = copy.deepcopy(node)
            del made.keys[place], made.values[place]
            yield "element", made
    elif isinstance(node, ast.List | ast.Set | ast.Tuple) and len(node.elts) > 1 and not is_key(node):
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return
        for place in range(len(node.elts)):
            shorter = copy.deepcopy(node)
            del shorter.elts[place]
            yield "element", shorter


def is_key(node: ast.AST) -> bool:
    """A field and a direction: `("name", 1)`. Without one of them it is nothing that the database knows."""
    match node:
        case ast.Tuple(elts=[ast.Constant(value=str()), ast.Constant(value=int()) | ast.UnaryOp()]):
            return True
        case _:
            return False


def _patterns(node: ast.AST) -> Iterator[Change]:
    """One alternative of a regular expression is missing."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or "|" not in node.value:
        return
    words = list(re.finditer(r"(?<=[|(:])[^|()\[\]\\]+(?=\|)|(?<=\|)[^|()\[\]\\]+(?=[|)]|$)", node.value))
    for word in words:
        start, end = word.span()
        behind = end < len(node.value) and node.value[end] == "|"
        rest = node.value[:start] + node.value[end + 1 :] if behind else None
        rest = node.value[: start - 1] + node.value[end:] if rest is None else rest
        yield "pattern", ast.Constant(rest)


def _directions(node: ast.AST) -> Iterator[Change]:
    """Sorted the other way round."""
    if is_key(node):
        assert isinstance(node, ast.Tuple)
        name, direction = node.elts
        backwards = isinstance(direction, ast.UnaryOp)
        yield "direction", ast.Tuple([name, ast.Constant(1 if backwards else -1)], ast.Load())


def _statements(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Return(value=ast.expr() as value):
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield "return", ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()):
            if not _is_log(node.value):
                yield "statement", ast.Pass()
        case ast.Raise() | ast.AugAssign() | ast.Delete():
            yield "statement", ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement", ast.Pass()
        case ast.Continue():
            yield "loop", ast.Break()
        case ast.Break():
            yield "loop", ast.Continue()
        case _:
            return


def _is_log(value: ast.expr) -> bool:
    """A line for operators is not what the product does."""
    call = value.value if isinstance(value, ast.Await) else value
    function = call.func if isinstance(call, ast.Call) else None
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "logger"
    )


def tests_of(node: ast.AST) -> Iterator[tuple[ast.expr, Change]]:
    """The condition of an `if` taken as always true, and as always false."""
    if isinstance(node, ast.If | ast.IfExp):
        for always in (True, False):
            yield node.test, ("always", ast.Constant(always))


_OPERATORS: tuple[Operator, ...] = (
    _comparisons,
    _conditions,
    _numbers,
    _arithmetic,
    _names,
    _arguments,
    _elements,
    _patterns,
    _directions,
    _statements,
)
