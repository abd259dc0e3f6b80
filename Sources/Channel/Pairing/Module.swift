// Pairing: two people get a channel by three words that one of them says aloud (Protocol/11-pairing.md). CPace turns
// the words into a key that only the two ends have, and one end sends the channel's link under it. This module knows no
// socket and reads no clock; time and random numbers are arguments.
