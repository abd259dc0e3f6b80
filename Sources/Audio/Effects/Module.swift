// Volume, equaliser, and chains of effects. This module does not know where audio comes from or goes to, and no threads
// or clocks.
