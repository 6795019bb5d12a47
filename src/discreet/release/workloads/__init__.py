"""Many questions under one charge: the file that lists them, their shares, and the run."""
