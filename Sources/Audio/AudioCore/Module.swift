// Basic types for all modules: frames, rates, instants, levels, and the protocols of sources, sinks and effects. This
// module knows no protocol bytes, devices, threads or clocks.
