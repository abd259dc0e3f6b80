// G.711: µ-law and A-law at 8 000 Hz, and the concealment of lost packets. This module does not know RTP, threads or
// clocks.
