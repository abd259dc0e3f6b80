// Stations on the local network by DNS-SD (RFC 6763): announces one and lists others, through the D-Bus interface of
// avahi-daemon. This module never uses multicast DNS itself. It does not know what is said to a station that was found.
