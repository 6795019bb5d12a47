"""A release as a picture."""
