// The words every other module speaks: frames, rates, instants, levels, and the seams sound passes through.
// This module never knows the bytes of a protocol, a device, a thread or a clock.
