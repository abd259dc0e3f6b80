// What makes sound louder, softer, brighter or darker, and how effects are chained.
// This room never knows where sound comes from or goes to, no thread and no clock.
