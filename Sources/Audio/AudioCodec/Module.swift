// Encoder and decoder protocols: the seam between a codec and the code that sends or plays its packets.
// This module never knows a particular codec, the bytes of a packet header, a thread or a clock.
