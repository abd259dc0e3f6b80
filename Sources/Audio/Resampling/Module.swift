// Sound from one rate to another, and at a rate that is steered while it flows, over speexdsp's resampler.
// This module never knows why a rate is wanted: who measures drift and decides on a correction is elsewhere.
