// Volume, equaliser, and chains of effects. This module does not know sources, sinks, threads or clocks.
