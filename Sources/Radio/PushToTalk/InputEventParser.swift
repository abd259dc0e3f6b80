package import TenfourAudioCore

/// One event of an input device: a key that went down or up, or a mark between events.
package struct InputEvent: Hashable, Sendable {
    /// The kernel's time of the event.
    package var time: Instant
    package var type: UInt16
    package var code: UInt16
    package var value: Int32

    package init(time: Instant, type: UInt16, code: UInt16, value: Int32) {
        (self.time, self.type, self.code, self.value) = (time, type, code, value)
    }

    /// EV_SYN and EV_KEY, SYN_REPORT and SYN_DROPPED of linux/input-event-codes.h.
    package static let synchronization: UInt16 = 0
    package static let key: UInt16 = 1
    package static let report: UInt16 = 0
    package static let dropped: UInt16 = 3
}

/// Splits the bytes of an input device into events, however the bytes are cut into pieces. Any bytes are accepted.
///
/// The layout is that of `struct input_event` of linux/input.h, in the byte order of this machine.
package struct InputEventParser {
    /// The size of the two numbers of the time: the kernel's `long`.
    package enum Layout: Sendable {
        case bits32, bits64

        /// The layout of this machine.
        package static var native: Self { MemoryLayout<Int>.size == 8 ? .bits64 : .bits32 }

        package var eventByteCount: Int { timeByteCount + 8 }
        var timeByteCount: Int { self == .bits64 ? 16 : 8 }
    }

    private let layout: Layout
    private var part: [UInt8] = []

    package init(_ layout: Layout = .native) {
        self.layout = layout
        part.reserveCapacity(layout.eventByteCount)
    }

    /// Adds bytes, and calls `found` for each event that is complete, oldest first.
    package mutating func parse(_ bytes: Span<UInt8>, _ found: (InputEvent) -> Void) {
        for index in bytes.indices {
            part.append(bytes[index])
            guard part.count == layout.eventByteCount else { continue }
            found(event())
            part.removeAll(keepingCapacity: true)
        }
    }

    private func event() -> InputEvent {
        let (seconds, microseconds): (Int64, Int64) =
            switch layout {
            case .bits64: (Int64(bitPattern: number(0, 8)), Int64(bitPattern: number(8, 8)))
            case .bits32:
                (Int64(Int32(truncatingIfNeeded: number(0, 4))), Int64(Int32(truncatingIfNeeded: number(4, 4))))
            }
        let start = layout.timeByteCount
        return InputEvent(
            // A nonsensical time wraps; `Instant.plausible` replaces it.
            time: Instant(nanoseconds: seconds &* 1_000_000_000 &+ microseconds &* 1_000),
            type: UInt16(truncatingIfNeeded: number(start, 2)), code: UInt16(truncatingIfNeeded: number(start + 2, 2)),
            value: Int32(truncatingIfNeeded: number(start + 4, 4)))
    }

    private func number(_ start: Int, _ byteCount: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<byteCount {
            #if _endian(little)
                number |= UInt64(part[start + index]) << UInt64(8 * index)
            #else
                number = number << 8 | UInt64(part[start + index])
            #endif
        }
        return number
    }
}

extension Instant {
    /// Returns the time that the kernel gave to an event, or `now` if that cannot be: it lies in the future, or more
    /// than ten seconds ago. Kernels before 5.7 stamp GPIO events by another clock, and recordings are older.
    package static func plausible(_ time: Self, now: Self) -> Self {
        time <= now && time.nanoseconds > now.nanoseconds - 10_000_000_000 ? time : now
    }
}
