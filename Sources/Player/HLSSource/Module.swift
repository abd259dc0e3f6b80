// Plays HTTP Live Streaming (RFC 8216): reads playlists, chooses the audio, reloads live playlists, and joins segments to
// streams of bytes for a demuxer. This module opens no socket, starts no thread, decodes nothing and has no cipher: all
// of these are given to it.
