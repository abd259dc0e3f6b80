// Opus in Ogg (RFC 7845) as bytes: pages from packets, packets for the time in which none arrived, and what the headers
// and the last page of a file say. Opens no file, reads no clock, decodes nothing.
