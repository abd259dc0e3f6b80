// A channel's secrets and what follows from them: links, keys, the sealing and opening of packets, SRTP.
// This module never reads a clock, draws random numbers, keeps a session's time or decides who may do what: all these are arguments.
