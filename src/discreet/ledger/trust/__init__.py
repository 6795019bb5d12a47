"""What vouches for a ledger: key, anchor, the walk over its chain, and recovery from losses."""
