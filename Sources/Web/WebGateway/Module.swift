// Listening to a running relay's channels over HTTP: the page, live Ogg and WebM, events, session descriptions, QR codes.
//
// The gateway has a thread and an event loop of its own. It hears each channel as an ordinary listener of the relay, over
// UDP on this machine: an encrypted channel as a member with its listen link, a plain channel as one more target. So
// each channel costs the relay one more copy of each packet, and HTTP never delays the relay.
