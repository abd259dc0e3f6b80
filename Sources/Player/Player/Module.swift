// Plays what Feed reads: one thread that parses and decodes, the audio thread, and between them a ring of sound; what is to happen is
// decided by a machine that does nothing itself. This module never knows a protocol of the network, a container or a codec.
