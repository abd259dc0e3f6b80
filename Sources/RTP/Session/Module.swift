// RTP sessions, which decide about packets and peers, and perform no input or output. This module never opens a socket,
// reads a clock, touches a file or draws random numbers: datagrams, `now` and randomness are arguments.
