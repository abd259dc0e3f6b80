// Plays recorded datagrams as tenfour would have: an RTPSession and a JitterBuffer on a clock that the caller moves. This
// module never waits, opens nothing, and produces the same audio for the same datagrams each time.
