// Floor control: who of a channel, or of a call, may talk. A station asks, an arbiter grants, and of several relays one
// arbitrates. This module knows no socket, clock or audio; messages and the time are arguments.
