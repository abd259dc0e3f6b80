// Basic types for all modules: frames, rates, instants, levels, and the protocols of sources, sinks and effects; protocols of
// encoders and decoders, so that modules can use any codec; tones for the station's own user. This module knows no protocol
// bytes, devices, threads or clocks.
