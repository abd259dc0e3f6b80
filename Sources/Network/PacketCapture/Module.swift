// Reads captures (pcap, pcapng) as UDP datagrams with their times. This module never opens a file or a socket, and does
// not interpret the payload of a datagram.
