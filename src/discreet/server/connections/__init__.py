"""What comes over a connection: who may connect, how long that may take, and what is heard of it at all."""
