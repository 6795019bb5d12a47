"""The file that describes a study: its language, reader, draft, queries and variants."""
