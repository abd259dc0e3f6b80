// A link test: speech goes to another endpoint and comes back; client and server. The module also has a receiver
// that plays recorded datagrams as tenfour would have played them, with an RTPSession and a JitterBuffer, on a clock that
// the caller moves: the same datagrams always give the same audio. This module never opens a socket, reads a clock or waits: datagrams and
// time go in; datagrams, audio, a deadline and a result come out.
