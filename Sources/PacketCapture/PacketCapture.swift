// Captures of a network (pcap, pcapng) as UDP datagrams with their times: from a file's bytes, whatever they are, to what somebody sent.
// This room never opens a file or a socket, and never knows what a datagram means.
