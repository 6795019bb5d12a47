"""What commands give back: releases on the screen and in files, in words that people read."""
