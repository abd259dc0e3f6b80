// Where the modules meet: sound cards, codec, station and network on their three threads, as one Session.
// This module never decides about a packet or a peer; it carries what others decided from one thread to the next.
