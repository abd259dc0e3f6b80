// The encoder and decoder protocols, by which other modules use any codec to send or play packets. This module does not
// know a particular codec, packet headers, threads or clocks.
