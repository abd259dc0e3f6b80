// The jitter buffer: from a packet's arrival to the audio that the card requests.
//
// `JitterBuffer` is one talker, `Mixer` is eight of them and a limiter. Measuring (DelayEstimate, DelayPeaks, DriftEstimate), deciding
// (TargetDelay, DecisionLogic, TimeScaleDecision) and performing (SyncBuffer, TimeScaler, and the caller's decoder) are kept in files of
// their own; PlayoutController connects the first two, and TimestampUnwrapper gives packets their place on the talker's timeline.
// This module knows no thread, card or codec, and never allocates after init. Its time is the number of frames that the card has
// requested: the card is the clock.
//
// The playout delay is found in five steps, in the order of the code:
//
//  1. Measure. `DelayEstimate` takes arrival minus timestamp of each packet. Its base is the fastest packet of ten seconds.
//     `DelayPeaks` keeps the slowest packet of each of the last 60 half seconds in which packets came. The estimate is the
//     peak that 95 % of the half seconds keep within, plus 22 % of the median peak. So a stall counts once, however many
//     packets it holds back. A single stall in half a minute is left out; stalls every two seconds are buffered.
//  2. Follow the route. If all packets of a second came earlier than any before, or later than nine tenths of the packets before,
//     the route has changed. The peaks are shifted, so that the jitter measured before stays valid.
//  3. Target. `TargetDelay` adds a pull of the card, and what redundancy, retransmission and in-band FEC need.
//  4. Tolerate. A delay that exceeds the target by less than an eighth stays. When packets come late, playout becomes later by
//     the time that it waited for them, and all of them are heard. If the newest packet is late too, the delay does not
//     shrink for 1.5 s: by then it is known whether the route has changed.
//  5. Time-scale. `TimeScaleDecision` moves to the target in pauses. It changes speech only if the delay is 50 ms too short
//     (15 ms where recovery needs it), or has been 40 ms too long for 1 s without a pause; then by 10 % of tempo at most. A
//     stall of 100 ms on a quiet link is caught up in 3 s.
//
// The trade-off: the delay of a high quantile, kept for half a minute, against audio that is concealed or time-scaled
// whenever the network changes for a moment. `Tools/benchmark loss jitter` compares both with NetEQ.
