// What FFmpeg parses and decodes.
