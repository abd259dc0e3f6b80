// Listening to a running relay's channels over HTTP: the page, live Ogg and WebM, events, session descriptions, QR codes; and
// feeds of Icecast servers by libshout.
//
// The gateway has a thread and an event loop of its own. It hears each channel as an ordinary listener of the relay, over
// UDP on this machine: an encrypted channel as a member with its listen link, a plain channel as one more target. So
// each channel costs the relay one more copy of each packet, and HTTP never delays the relay. `LiveTimeline` and the
// muxers make one gapless sequence of a channel's Opus packets at the relay's own pace: they open no socket, read no clock,
// start no thread and decode nothing. A feed takes pages from a bounded queue, and never delays their sender.
