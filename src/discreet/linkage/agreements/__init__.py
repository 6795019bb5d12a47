"""What three offices agree on: who they are, what may be asked, at what price, until when. Signed by all of them."""
