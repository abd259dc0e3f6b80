// A radio check: speech goes to another station and comes back, and both ends know what to do and when.
// This module never opens a socket or reads a clock: datagrams and the time go in; datagrams, a deadline and a result come out.
