"""The report of a study: figures, tables and sentences for a manager, in one HTML file."""
