// The sound cards of this machine, through ALSA: listing, playback with a short queue, capture without stale audio.
// This module neither resamples nor mixes and knows no packets, peers or addresses.
