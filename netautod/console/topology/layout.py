"""The layout of a drawing: columns by the distance from a root, each node beside its parent. Pure.

The same network gives the same drawing. A column holds the nodes of one distance; the nodes that were reached
through a node begin at its height and stand together, so that a tree of switches has no crossing lines and
reads from the top. Parts without a connection stand below one another, the largest first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from netautod.console.topology.network import Cable, Node

LONGEST_LABEL = 28  # characters
CHARACTER, PADDING, GAP = 7.6, 16, 90  # pixels: of a label's character, beside it, between two columns
ROW, BOX, EDGE = 24, 19, 8  # of a row, of the box in it, around the drawing
MOST_LINES = 450  # with a text of their own; those beyond are one element
MOST_IN_TITLE = 4  # cables in such a text
MOST_CENTERS = 40  # nodes of a part that are looked at as its center


@dataclass(frozen=True, kw_only=True)
class Box:
    """The box of a node; `x` and `y` are its upper left corner."""

    node: Node
    label: str
    x: int
    y: int
    width: int
    is_root: bool


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line between two boxes.

    `path` is the `d` of an SVG path; `weight` is 1 to 3 by the number of cables.
    """

    path: str
    title: str
    weight: int


@dataclass(frozen=True, kw_only=True)
class Drawing:
    boxes: Sequence[Box]
    lines: Sequence[Line]
    other_lines: str
    width: int
    height: int


def drawing_of(nodes: Sequence[Node], cables: Sequence[Cable], root: str | None) -> Drawing:
    """Draw the nodes and cables.

    `root` is the id of the node that the drawing is about; without it each part begins at its hub.
    """
    by_id = {node.id: node for node in nodes}
    pairs = _pairs(cables)
    beside = _beside(nodes, pairs, by_id)
    forest = list(_forest(nodes, beside, root))
    rows: dict[str, int] = {}
    for tree in forest:
        rows |= tree.rows(first=max(rows.values()) + 2 if rows else 0)
    layers = {node: layer for tree in forest for node, layer in tree.layers.items()}
    columns = _columns(layers, by_id)
    boxes = {
        node.id: Box(
            node=node,
            label=_label(node.name),
            x=columns[layers[node.id]][0],
            y=EDGE + rows[node.id] * ROW,
            width=columns[layers[node.id]][1],
            is_root=node.id == root,
        )
        for node in nodes
    }
    lines = [_line(boxes[a], boxes[b], found) for (a, b), found in pairs.items()]
    return Drawing(
        boxes=list(boxes.values()),
        lines=lines[:MOST_LINES],
        other_lines=" ".join(line.path for line in lines[MOST_LINES:]),
        width=max((x + width for x, width in columns), default=0) + GAP,
        height=2 * EDGE + ROW * (max(rows.values(), default=0) + 1),
    )


@dataclass(kw_only=True)
class _Tree:
    """A tree of the shortest paths: the `children` of each node in their order, its layer from 0 in
    `layers`.
    """

    root: str
    children: dict[str, list[str]]
    layers: dict[str, int]

    def rows(self, *, first: int) -> dict[str, int]:
        """Return the row of each node: each leaf has its own; a parent stands in the row of its
        first leaf.
        """
        found: dict[str, int] = {}
        stack, row = [self.root], first
        while stack:
            node = stack.pop()
            found[node] = row
            if self.children[node]:
                stack += reversed(self.children[node])
            else:
                row += 1
        return found


def _pairs(cables: Sequence[Cable]) -> dict[tuple[str, str], list[Cable]]:
    found: dict[tuple[str, str], list[Cable]] = {}
    for cable in cables:
        if cable.a.id != cable.b.id:
            found.setdefault((cable.a.id, cable.b.id), []).append(cable)
    return found


def _beside(
    nodes: Sequence[Node], pairs: Iterable[tuple[str, str]], by_id: Mapping[str, Node]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {node.id: [] for node in nodes}
    for a, b in pairs:
        found[a].append(b)
        found[b].append(a)
    return {node: sorted(others, key=lambda one: by_id[one].order) for node, others in found.items()}


def _forest(nodes: Sequence[Node], beside: Mapping[str, Sequence[str]], root: str | None) -> Iterator[_Tree]:
    """Yield the trees: the part with `root` first, then by size, the largest first."""
    known: set[str] = set()
    trees: list[_Tree] = []
    for node in sorted(nodes, key=lambda node: (node.id != root, node.order)):
        if node.id not in known:
            tree = _tree(node.id, beside)
            trees.append(tree if node.id == root else _tree(_center(tree.layers, beside), beside))
            known |= tree.layers.keys()
    yield from sorted(trees, key=lambda tree: (tree.root != root, -len(tree.layers)))


def _center(connected: Iterable[str], beside: Mapping[str, Sequence[str]]) -> str:
    """Return the node whose farthest node is nearest, then the one with the shortest paths: a
    network's core.
    """

    def branches(node: str) -> int:
        return sum(len(beside[other]) > 1 for other in beside[node])

    def distances(node: str) -> tuple[int, int]:
        layers = _tree(node, beside).layers.values()
        return max(layers), sum(layers)

    # `sorted` and `min` keep the order of what is equal, which is that of the nearest.
    return min(sorted(connected, key=branches, reverse=True)[:MOST_CENTERS], key=distances)


def _tree(root: str, beside: Mapping[str, Sequence[str]]) -> _Tree:
    children: dict[str, list[str]] = {root: []}
    layers, ring = {root: 0}, [root]
    while ring:
        reached: list[str] = []
        for node in ring:
            for other in beside[node]:
                if other not in layers:
                    layers[other], children[other] = layers[node] + 1, []
                    children[node].append(other)
                    reached.append(other)
        ring = reached
    return _Tree(root=root, children=children, layers=layers)


def _columns(layers: Mapping[str, int], by_id: Mapping[str, Node]) -> list[tuple[int, int]]:
    """Return the left edge and the width of each column."""
    longest: dict[int, int] = {}
    for node, layer in layers.items():
        longest[layer] = max(longest.get(layer, 0), len(_label(by_id[node].name)))
    found, x = [], EDGE
    for layer in sorted(longest):
        width = round(longest[layer] * CHARACTER) + PADDING
        found.append((x, width))
        x += width + GAP
    return found


def _label(name: str) -> str:
    whole = " ".join(name.split())
    return whole if len(whole) <= LONGEST_LABEL else f"{whole[: LONGEST_LABEL - 1]}\N{HORIZONTAL ELLIPSIS}"


def _line(a: Box, b: Box, cables: Sequence[Cable]) -> Line:
    texts = [f"{one.a.name} {one.a_port} - {one.b.name} {one.b_port}" for one in cables[:MOST_IN_TITLE]]
    more = [f"and {len(cables) - MOST_IN_TITLE} more"] if len(cables) > MOST_IN_TITLE else []
    return Line(path=_path(a, b), title="\n".join([*texts, *more]), weight=min(3, len(cables)))


def _path(a: Box, b: Box) -> str:
    left, right = sorted((a, b), key=lambda box: (box.x, box.y))
    start, y1, y2 = left.x + left.width, left.y + BOX // 2, right.y + BOX // 2
    if left.x == right.x:  # at one distance: around the column
        out = start + 16 + min(GAP - 30, abs(y2 - y1) // 6)
        return f"M{start} {y1}C{out} {y1} {out} {y2} {start} {y2}"
    middle = (start + right.x) // 2
    return f"M{start} {y1}C{middle} {y1} {middle} {y2} {right.x} {y2}"
