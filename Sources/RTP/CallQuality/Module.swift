// Call quality: loss, delay and a score for each second and for the whole, from a receiver's counts. This module never
// reads a clock, opens a file, or makes a decision about playout.
