// The model of a bad network: what is lost, late, doubled or out of order, by seed, the same every time.
// This room never sends a byte, reads a clock or a file, or rolls dice that cannot be rolled again.
