"""Charts: a canvas that writes SVG, and the pictures of releases."""
