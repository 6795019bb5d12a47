"""What each office sees of a study: words in two languages, figures, and one self-contained page."""
