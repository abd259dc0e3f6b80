// The sound cards of this machine, through ALSA: what is there, playing with little queued, capturing with nothing stale.
// This module never decides what is heard: it neither resamples nor mixes, and it knows no packets, peers or addresses.
