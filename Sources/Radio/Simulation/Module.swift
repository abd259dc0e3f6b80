// This module plays recorded datagrams as tenfour would have played them: with an RTPSession and a JitterBuffer, on a
// clock that the caller moves. It never waits, opens nothing, and produces the same audio for the same datagrams each
// time.
