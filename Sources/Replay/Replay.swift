// What tenfour would have played of datagrams whose times are known: a Station and a Voice on a simulated clock.
// This room never waits, opens nothing, and gives the same sound for the same datagrams each time.
