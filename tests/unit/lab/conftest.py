"""The offices of the tests of tables."""

from tests.unit.tables.conftest import generous, generous_room, office, reading_room

__all__ = ["generous", "generous_room", "office", "reading_room"]
