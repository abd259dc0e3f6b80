// What a microphone near an open loudspeaker needs: echo cancellation, noise suppression, gain control, and a judgement
// of its level. This module does not know cards and threads: it gets audio, and the times at which cards play and
// capture it.
