// The jitter buffer: from a packet's arrival to the audio that the card requests.
//
// `JitterBuffer` is one talker, `Mixer` is eight of them and a limiter. Measuring (DelayEstimate, DelayPeaks, DriftEstimate), deciding
// (TargetDelay, DecisionLogic, TimeScaleDecision) and performing (SyncBuffer, TimeScaler, and the caller's decoder) are kept in files of
// their own; PlayoutController connects the first two. This module knows no thread, card or codec, and never allocates after init.
// Its time is the number of frames that the card has requested: the card is the clock.
//
// How the playout delay is found, in the order of the code:
//
//  1. Measure. `DelayEstimate` takes arrival minus timestamp of each packet. Its base is the fastest packet of ten seconds.
//     `DelayPeaks` keeps the slowest packet of each of the last 60 half seconds in which packets came. The estimate is the
//     peak that 95 % of the half seconds keep within, plus 22 % of the median peak. So a stall counts once, however many
//     packets it holds back; a single stall in half a minute is left out; stalls that come each two seconds are held.
//  2. Routes. Packets of a second that all came sooner than all before, or later than nine tenths of those before, are another
//     route. It moves the peaks, so the jitter that is known stays known.
//  3. Target. `TargetDelay` adds a pull of the card, and what redundancy, retransmission and in-band FEC need.
//  4. Stay. A depth that exceeds the target by less than an eighth stays. Packets that come late make playout later by the
//     time they were waited for, and every one of them is heard. If the newest packet is late too, nothing shrinks for 1.5 s:
//     by then it is known whether the route has changed.
//  5. Time-scale. `TimeScaleDecision` goes to the target in pauses. In speech it goes there only when the depth lacks 50 ms (15 ms for repair), or when
//     it has exceeded the target by 40 ms for 1 s without a pause; then by 10 % of tempo at the most. A stall of 100 ms on a
//     quiet link is caught up in 3 s.
//
// What is traded: the delay of a high quantile that is kept for half a minute, for sound that is neither concealed nor
// time-scaled when the network changes for a moment. `Tools/benchmark loss jitter` holds both against NetEQ.
