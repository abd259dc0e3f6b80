// Encodes audio to Opus packets and decodes them, by libopus (RFC 6716): an encoder, a decoder, and a parser for
// in-band FEC flags. This module does not know RTP, and does not decide which audio is concealed.
