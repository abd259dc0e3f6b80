// A link test: speech goes to another endpoint and comes back; client and server. This module never opens a socket or
// reads a clock: datagrams and time go in; datagrams, a deadline and a result come out.
