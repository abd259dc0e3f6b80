// How a link sounded: loss, delay and a score, from what a receiver has counted, per second and for the whole, for people and as JSON.
// This room never reads a clock, opens a file, or decides what is played.
