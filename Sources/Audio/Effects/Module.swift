// Volume, filters, equaliser, compressor, delay, limiter, loudness, and chains of effects. This module does not know
// sources, sinks, threads or clocks.
