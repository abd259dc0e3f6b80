// Everything that follows from a channel's secret: links, keys, encryption and decryption of packets and records, SRTP. This
// module never reads a clock, keeps timers or decides who may do what; clocks and random numbers are arguments.
