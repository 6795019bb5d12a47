"""The small card and workspace of the tests of the workspace."""

from tests.unit.workspace.conftest import add, card, card_text, workspace

__all__ = ["add", "card", "card_text", "workspace"]
