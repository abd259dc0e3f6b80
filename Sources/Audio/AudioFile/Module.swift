// Sound in files and pipes: what libsndfile reads, WAV and raw LPCM on the way out and through pipes.
// This module never converts rates or channels, and never knows where the sound goes.
