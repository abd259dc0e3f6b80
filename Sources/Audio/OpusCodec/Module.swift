// Sound to Opus packets and back, over libopus (RFC 6716): one encoder, one decoder, and what a packet says of itself.
// This module never knows RTP, loses a packet, or decides what is to be concealed.
