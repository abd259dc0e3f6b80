// Turns an address into audio in four stages: `ByteSource` fetches bytes, `Demuxer` splits them into packets,
// `MediaReader` decodes the packets to LPCM, `MediaPlayer` plays the LPCM. Each stage pulls from the one before it.
// This module opens no socket, starts no thread and knows no C libraries but Opus and Ogg.
