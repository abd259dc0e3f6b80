// Reads captures (pcap, pcapng) as UDP datagrams with their times. This module never opens a file or a socket, and does
// not know what a datagram means.
