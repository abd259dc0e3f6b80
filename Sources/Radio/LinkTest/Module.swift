// A link test: speech goes to another endpoint and comes back; client and server. Beside it, a receiver that plays recorded
// datagrams as tenfour would have played them, with an RTPSession and a JitterBuffer, on a clock that the caller moves: the
// same audio for the same datagrams each time. This module never opens a socket, reads a clock or waits: datagrams and
// time go in; datagrams, audio, a deadline and a result come out.
