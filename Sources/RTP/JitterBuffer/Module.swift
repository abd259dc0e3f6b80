// The jitter buffer: from a packet's arrival to the audio that the card requests.
//
// `JitterBuffer` plays one talker; `Mixer` adds up eight of them and limits the sum. Three tasks are kept in files of
// their own: measuring (DelayEstimate, DelayPeaks, DriftEstimate), deciding (TargetDelay, DecisionLogic,
// TimeScaleDecision) and performing (SyncBuffer, TimeScaler, and the caller's decoder). PlayoutController connects
// measuring and deciding; TimestampUnwrapper computes the position of each packet in the talker's time. This module
// knows no thread, card or codec, and never allocates after init. Its time is the number of frames that the card has
// requested: the card is the clock.
//
// The playout delay is found in five steps, in the order of the code:
//
//  1. Measure. The delay of a packet is its arrival minus its timestamp. The base of `DelayEstimate` is the delay of
//     the fastest packet of ten seconds. `DelayPeaks` keeps the delay of the slowest packet (the peak) of each of the
//     last 60 half seconds in which packets came. The estimate is the peak that 95 % of the half seconds do not exceed,
//     plus a reserve of at most 22 % of the median peak. So a stall counts once, however many packets it holds back. A
//     single stall in half a minute is left out; stalls every two seconds are buffered.
//  2. Follow the route. The route has changed if all packets of a second came earlier than any before, or later than
//     nine tenths of the packets before. The peaks are then moved by the change of each half second's fastest packet,
//     so that the jitter measured before stays valid. A route that becomes shorter too slowly for this is noticed when
//     the link has been quiet for seven seconds.
//  3. Target. `TargetDelay` adds the duration of one pull of the card, and the time that redundancy, retransmission and
//     in-band FEC need.
//  4. Tolerate. A delay that exceeds the target by less than an eighth is not changed. When packets come late, playout
//     waits for them and becomes later by this time, so that all of them are heard. If the newest packet is late too,
//     the delay does not shrink for 1.5 s: by then it is known whether the route has changed.
//  5. Time-scale. `TimeScaleDecision` changes the delay to the target in pauses. It changes speech only if the delay is
//     50 ms too short (15 ms if the target includes time for recovery), or has been 40 ms too long for 1 s without a
//     pause. The tempo of speech changes by at most 10 %. A stall of 100 ms on a quiet link is caught up in 3 s.
//
// The design weighs two costs. One is delay: a high quantile of the measured delays is kept for half a minute. The
// other is audio that is concealed or time-scaled whenever the network changes for a moment. `Tools/benchmark loss
// jitter` compares both with NetEQ.
