"""What a finished study found: errors, quality, attacks, verdicts and advice."""
