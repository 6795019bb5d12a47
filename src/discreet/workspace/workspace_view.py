"""A workspace as somebody may see it: some of its datasets, or in the versions that they had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from discreet.workspace.folder import Workspace

__all__ = ["WorkspaceView"]


@dataclass(frozen=True, slots=True)
class WorkspaceView(Workspace):
    """Datasets that are not `shown` are as if they were not there, in every word; None shows all.

    `versions` are looked at in place of the current ones.
    """

    shown: frozenset[str] | None = None
    versions: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, workspace: Workspace, *, shown: frozenset[str] | None = None, versions: Mapping[str, int] | None = None
    ) -> WorkspaceView:
        """A view of a workspace, or of a view: what that does not show, this does not either."""
        before = workspace if isinstance(workspace, WorkspaceView) else None
        if before is not None and before.shown is not None:
            shown = before.shown if shown is None else shown & before.shown
        own = {item.name: getattr(workspace, item.name) for item in fields(Workspace)}
        return cls(**own, shown=shown, versions=dict(versions or (before.versions if before is not None else {})))

    def names(self) -> tuple[str, ...]:
        names = Workspace.names(self)
        return names if self.shown is None else tuple(name for name in names if name in self.shown)

    def current_version(self, name: str) -> int | None:
        if self.shown is not None and name not in self.shown:
            return None
        if name in self.versions and self.has_version(name, self.versions[name]):
            return self.versions[name]
        return Workspace.current_version(self, name)
