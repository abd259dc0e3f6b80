// Plays the formats that FFmpeg decodes: its demuxers, decoders and converter behind `Demuxer` and `MediaReader`,
// reading through a `ByteSource` only. This module opens no file or socket and starts no thread, and does not let
// FFmpeg do so: files that refer to other addresses are refused. Without the trait FFmpeg only the parts that need no
// headers of FFmpeg are compiled.
