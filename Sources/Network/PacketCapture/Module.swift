// Captures of a network (pcap, pcapng) as UDP datagrams with their times: from any bytes to what somebody sent.
// This module never opens a file or a socket, and never knows what a datagram means.
