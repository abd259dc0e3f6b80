// The words every other room speaks: frames, rates, instants, levels, and the seams sound passes through.
// This room never knows the bytes of a protocol, a device, a thread or a clock.
