// A station that waits for calls: who is near and answers, who calls, by invitation or by plain RTP, and pairing. Its
// decisions know no socket, clock or thread; LobbyStation runs them on the media port, in turns with a session.
