// Audio files and pipes: reading by libsndfile, writing WAV and raw LPCM, both through pipes too. This module converts
// neither rates nor channels, and does not know sources or sinks beyond the file.
