/// Where a report tells whether a button is down: a value that is not zero, or one of several slots with a certain
/// value.
package struct HIDControl: Hashable, Sendable {
    /// Zero if the device's reports have no ID.
    package var reportID: UInt8
    /// The place after the report ID.
    package var bitOffset: Int
    /// 1…32.
    package var bitSize: Int
    package var slotCount: Int
    /// The value of a slot that means this button; nil if every value but zero does.
    package var value: UInt32?

    static func mask(_ bitSize: Int) -> UInt32 { bitSize >= 32 ? .max : 1 << UInt32(bitSize) - 1 }

    /// Whether the button is down in a report, whose content begins at the byte `start`; nil if the report is too short
    /// to tell.
    func isActive(in report: Span<UInt8>, from start: Int) -> Bool? {
        // The kernel cuts no report, but a device may send a shorter one than it has announced.
        guard bitOffset + bitSize <= (report.count - start) * 8 else { return nil }
        for slot in 0..<slotCount {
            let first = bitOffset + slot * bitSize
            guard first + bitSize <= (report.count - start) * 8 else { break }
            var found: UInt32 = 0
            for bit in 0..<bitSize where report[start + (first + bit) / 8] >> UInt8((first + bit) % 8) & 1 == 1 {
                found |= 1 << UInt32(bit)
            }
            if value.map({ $0 == found }) ?? (found != 0) { return true }
        }
        return false
    }
}

/// The state of one button of a HID device, from its input reports. Any bytes are accepted.
package struct HIDContact: Sendable {
    private let controls: [HIDControl]
    private let hasReportIDs: Bool
    private let isActiveLow: Bool
    /// Nil until a report has told.
    private var states: [Bool?]

    package init(_ controls: [HIDControl], hasReportIDs: Bool, isActiveLow: Bool) {
        self.controls = controls
        self.hasReportIDs = hasReportIDs
        self.isActiveLow = isActiveLow
        states = Array(repeating: nil, count: controls.count)
    }

    package var isPressed: Bool { states.contains { $0 == true } }

    /// Takes one input report, as hidraw delivers it: with the report ID first, if the device has IDs.
    package mutating func receive(_ report: Span<UInt8>) {
        guard report.count > 0 else { return }
        let id = hasReportIDs ? report[0] : 0
        for (index, control) in controls.enumerated() where control.reportID == id {
            if let isActive = control.isActive(in: report, from: hasReportIDs ? 1 : 0) {
                states[index] = isActive != isActiveLow
            }
        }
    }
}

/// Cuts a stream of bytes into reports, for a pipe or a recording: a device delivers one report with each read.
package struct HIDReportSplitter: Sendable {
    private let descriptor: HIDReportDescriptor?
    private var part: [UInt8] = []

    /// `descriptor` nil stands for a CM108, whose reports have four bytes.
    package init(_ descriptor: HIDReportDescriptor?) { self.descriptor = descriptor }

    /// Adds bytes, and calls `found` for each complete report. A byte that begins no report is left out.
    package mutating func split(_ bytes: Span<UInt8>, _ found: (Span<UInt8>) -> Void) {
        for index in bytes.indices {
            part.append(bytes[index])
            let id = descriptor?.hasReportIDs ?? false ? part[0] : 0
            let byteCount = descriptor.map { $0.byteCount(ofReport: id) } ?? 4
            if let byteCount, byteCount > 0, part.count < byteCount { continue }
            if let byteCount, byteCount > 0 { found(part.span) }
            part.removeAll(keepingCapacity: true)
        }
    }
}
