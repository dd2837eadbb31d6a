"""The pages of what an operator watches: metrics and actions of the audit."""

from itertools import groupby

from netautod.activity.audit.actions import ACTIONS
from netautod.core.metrics import DECLARED, Declared
from netautod.server.metrics.page import PREFIX
from tests.repository.generated.markdown import code, page, prose, table

# What the names of a kind have at their end on the page that Prometheus reads.
ENDINGS = {"counter": "_total", "gauge": "", "histogram": ""}


def all_metrics() -> str:
    rows = [
        (code(_name(name, one)), one.kind, ", ".join(map(code, one.labels)), prose(one.help))
        for name, one in sorted(DECLARED.items())
    ]
    return page(
        "All metrics",
        "Look up a metric of the page `/metrics` here. A histogram has `_bucket`, `_sum` and `_count` behind "
        "its name. [Metrics and alerts](metrics-and-alerts.md) says how to read them and what to alert on.",
        table(("Metric", "Kind", "Labels", "Meaning"), rows),
        f"With `--workers` each series has a label `worker` as well, and `{PREFIX}worker_up` says of each "
        "worker whether it serves.",
    )


def _name(name: str, declared: Declared) -> str:
    return f"{PREFIX}{name}{ENDINGS[declared.kind]}"


def audit_actions() -> str:
    parts = []
    for resource, group in groupby(sorted(ACTIONS.items()), key=lambda item: item[0].partition(".")[0]):
        rows = [(code(action), prose(meaning)) for action, meaning in group]
        parts.append(f"## {resource}\n\n{table(('Action', 'What has happened'), rows)}")
    return page(
        "Audit actions",
        "Look up the `action` of an audit event here. `GET /api/audit?action=auth.login_failed` shows the "
        "events of one action; [Audit](audit.md) says how to read and check them.",
        *parts,
    )
