"""The commands of the core, a module for each group of users."""
