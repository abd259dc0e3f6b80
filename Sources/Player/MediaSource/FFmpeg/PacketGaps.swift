#if FFmpeg
    /// Finds holes between packets: jumps of the timestamps over bytes that belong to no packet. A jump alone is none, since
    /// a recording may have pauses.
    struct PacketGaps {
        struct Hole {
            /// The timestamps at which the hole begins, and its length.
            var begin: Int64
            var length: Int64
            /// Whether one of the packets around it is marked.
            var isMarked: Bool
        }

        /// The offset and the end, as a timestamp, of the packet before; nil at the start and after a seek.
        private var last: (offset: Int64, end: Int64, isMarked: Bool)?
        /// The largest distance between two packets that follow each other without a hole, in bytes.
        private var longestStep: Int64 = 0
        private var steps = 0
        /// A step that was longer than all before, and the timestamp after which it is no hole. In Ogg, the timestamp after a
        /// hole is known some packets later.
        private var long: (surplus: Int64, step: Int64, limit: Int64)?
        /// The totals of the steps without a hole.
        private var passed = (byteCount: Int64(0), time: Int64(0))

        /// The number of steps after which the distances of packets are known.
        private static let knownSteps = 3

        /// The largest total. A damaged file may state any offsets and durations.
        private static let totalLimit: Int64 = 1 << 60

        /// Returns the sum of a total and another part, if that is positive, within the limit.
        private static func total(_ total: Int64, _ part: Int64) -> Int64 {
            min(total + min(max(part, 0), totalLimit), totalLimit)
        }

        /// Forgets the packet before, since the next packet does not follow it.
        mutating func restart() { (last, long) = (nil, nil) }

        /// Adds a packet at byte `offset`, negative if it is unknown, that begins at the timestamp `begin`. Returns a hole
        /// of at least `shortest` before it; nil if there is none. `patience` is the time in which the timestamps must
        /// jump after a hole in the bytes. `needsBytes` tells that the format allows pauses.
        mutating func add(
            offset given: Int64, begin: Int64, duration: Int64, isMarked: Bool, shortest: Int64, patience: Int64,
            needsBytes: Bool
        ) -> Hole? {
            let offset = max(given, last?.offset ?? 0)
            let end = begin.addingReportingOverflow(duration).partialValue
            defer { last = (offset, end, isMarked) }
            guard let last else { return nil }
            let step = offset - last.offset
            let (length, isTooFar) = begin.subtractingReportingOverflow(last.end)
            if isTooFar { return nil }
            if length >= shortest, steps >= Self.knownSteps, passed.time > 0 {
                let density = Double(passed.byteCount) / Double(passed.time)
                let surplus = max(step - longestStep, long?.surplus ?? 0)
                // Half the bytes that such a time usually has, since a hole begins and ends within packets.
                guard !needsBytes || Double(surplus) >= density * Double(length) / 2 else { return nil }
                long = nil
                return Hole(begin: last.end, length: length, isMarked: isMarked || last.isMarked)
            }
            if let long, begin > long.limit {
                longestStep = max(longestStep, long.step)
                self.long = nil
            }
            if step > longestStep {
                if steps >= Self.knownSteps {
                    let limit = end.addingReportingOverflow(patience).partialValue
                    if step > long?.step ?? 0 { long = (step - longestStep, step, limit) }
                } else {
                    longestStep = step
                }
            }
            if step > 0 { steps += 1 }
            if length < shortest, step <= longestStep {
                passed.byteCount = Self.total(passed.byteCount, step)
                passed.time = Self.total(passed.time, duration)
            }
            return nil
        }
    }
#endif
