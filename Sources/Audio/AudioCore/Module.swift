// Basic types for all modules: frames, rates, instants, levels, the protocols of sources, sinks and effects, those of encoders and
// decoders, by which other modules use any codec, and the tones that a station plays to its own user. This module knows no
// protocol bytes, devices, threads or clocks.
