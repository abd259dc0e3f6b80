// Links of channels, the keys that are derived from a channel's secret, encryption and decryption of packets and
// records, and SRTP. This module reads no clock, has no timers and makes no decisions about permissions; clocks and
// random numbers are arguments.
