// Turns an address into audio in four stages: `ByteSource` fetches bytes, `Demuxer` splits them into packets,
// `MediaReader` decodes the packets to LPCM, `MediaPlayer` plays the LPCM. Each stage pulls from the one before it.
// This module opens no socket and starts no thread, and does not let FFmpeg do so: files that refer to other addresses are
// refused. Without the trait FFmpeg, the files in the folder FFmpeg that need its headers are left out.
