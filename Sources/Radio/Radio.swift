// Where the rooms meet: sound cards, codec, station and network on their three threads, as one Session.
// This room never decides about a packet or a peer; it carries what others decided from one thread to the next.
