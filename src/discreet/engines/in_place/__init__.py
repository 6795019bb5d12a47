"""Tables that stay in their engine: prepared inside the query, in PostgreSQL or Spark."""
