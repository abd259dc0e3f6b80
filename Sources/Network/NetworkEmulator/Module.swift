// A model of a bad network: packets are lost, late, duplicated or reordered, in the same way for the same seed. This
// module never sends a byte, never reads a clock or a file, and draws no random number that a seed does not repeat.
