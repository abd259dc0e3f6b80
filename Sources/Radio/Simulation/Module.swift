// What tenfour would have made of datagrams whose times are known: a Station and a Voice on a clock that the caller moves.
// This module never waits, opens nothing, and gives the same sound for the same datagrams each time.
