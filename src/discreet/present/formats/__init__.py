"""A release as a file or a screen: one module for each format."""
