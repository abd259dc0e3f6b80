// Limits of rates, and pauses between attempts. Nothing here reads a clock.
