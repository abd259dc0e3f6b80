// The packet formats: RTP, RTCP, SDP and the Opus payload, as values that parse and write bytes. This module knows no
// socket, queue, key or clock; times are arguments.
