"""Where events are kept: one SQLite file, or a schema of PostgreSQL."""
