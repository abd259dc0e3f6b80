// How a link sounded: loss, delay and a score, from what a receiver has counted, for each second and for the whole.
// This module never reads a clock, opens a file, or decides what is played.
