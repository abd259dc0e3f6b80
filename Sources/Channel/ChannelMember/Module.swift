// A member's place in a channel, between a station and the network: joins, stays, protects what goes, opens what comes.
// Opens no socket, reads no clock, and knows no sound.
