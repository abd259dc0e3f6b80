// Push to talk as a lease: the microphone is open only while somebody holds it, and closes when the last holder releases
// it or goes away. Holders are keys of the terminal, devices, `tenfour ptt` over a Unix socket, signals, and the voice
// itself (VOX). This module does not know cards, packets or sessions: it says when the microphone opens and closes.
