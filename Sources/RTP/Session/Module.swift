// Everything that decides about packets and peers, nothing that does.
// This module never opens a socket, reads a clock, touches a file or draws random numbers: datagrams, `now` and randomness are arguments.
