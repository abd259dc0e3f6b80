// What FFmpeg plays: its demultiplexers, decoders and converter behind the protocols of Feed, reading through a Downloading only.
// This module never opens a file or a socket, starts no thread, and has FFmpeg open none: what names further addresses is refused.
// What needs FFmpeg's headers is there with the trait FFmpeg only: a build of the whole package compiles this module without it, too.
