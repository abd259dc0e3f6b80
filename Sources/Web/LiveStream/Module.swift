// From a channel's RTP packets to a live stream for players and browsers: one gapless sequence of Opus packets at the
// relay's own pace, as Ogg and as WebM. Opens no socket, reads no clock, starts no thread, decodes nothing.
