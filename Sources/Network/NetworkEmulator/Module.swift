// The model of a bad network: what is lost, late, doubled or out of order, by seed, the same every time.
// This module never sends a byte, reads a clock or a file, or draws a random number that a seed does not repeat.
