// A member of a channel, between an RTP session and the network: joins, keeps its lease, encrypts and decrypts. Opens
// no socket, reads no clock, and does not process audio.
