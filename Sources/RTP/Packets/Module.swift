// The wire in words: RTP, RTCP, SDP and the Opus payload, as values that parse and write bytes.
// This module never knows a socket, a queue, a key or a clock; times are arguments.
