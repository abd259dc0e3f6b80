// Sound from an address in four steps: download its bytes, parse them into packets, read those as LPCM, stream that to an output.
// Pull goes right to left, sound left to right. This room never opens a socket, starts no thread and knows no C library but Opus.
