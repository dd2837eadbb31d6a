"""The executor of backup tasks: captures the configuration of every device that a filter targets."""

from collections.abc import Callable

from netautod.plugin_api import Executor, hookimpl
from netautod_backup.executor import BackupExecutor
from netautod_backup.parameters import BackupParameters

__all__ = ["BackupExecutor", "BackupParameters", "netautod_register_executors"]


@hookimpl
def netautod_register_executors(register: Callable[[Executor], None]) -> None:
    register(BackupExecutor())
