import TenfourAudioCore
import TenfourPushToTalk

/// Feeds the bytes as the events of an input device, cut into pieces whose lengths are in the first byte.
func feedInput(_ bytes: Span<UInt8>) {
    guard bytes.count > 0 else { return }
    let pieceByteCount = Int(bytes[0] % 60) + 1
    for layout in [InputEventParser.Layout.bits32, .bits64] {
        var parser = InputEventParser(layout)
        var contact = KeyContact(code: 183)
        var (eventCount, wasPressed, place) = (0, false, 1)
        while place < bytes.count {
            let end = min(place + pieceByteCount, bytes.count)
            parser.parse(bytes.extracting(place..<end)) { event in
                eventCount += 1
                let now = Instant(nanoseconds: 1_000_000_000_000)
                let time = Instant.plausible(event.time, now: now)
                precondition(time <= now && now - time <= .seconds(10), "an event of another time")
                var result = contact.receive(event)
                // A device that cannot tell the state has no key that is down.
                if result == .mustBeRead { result = contact.set(false) }
                precondition(
                    result == (contact.isPressed == wasPressed ? .unchanged : wasPressed ? .released : .pressed))
                wasPressed = contact.isPressed
            }
            place = end
        }
        precondition(eventCount == (bytes.count - 1) / layout.eventByteCount, "an event was lost or made up")
    }
}

/// Feeds the bytes as a HID report descriptor and as reports of its device. The first two bytes are the length of the
/// descriptor.
func feedHID(_ bytes: Span<UInt8>) {
    guard bytes.count > 2 else { return }
    let end = min(2 + (Int(bytes[0]) | Int(bytes[1]) << 8), bytes.count)
    let reports = bytes.extracting(end..<bytes.count)
    feed(reports, nil, [])
    guard let descriptor = try? HIDReportDescriptor(parsing: bytes.extracting(2..<end)) else { return }
    precondition(descriptor.fields.count <= end - 2)
    for field in descriptor.fields {
        precondition((1...32).contains(field.bitSize) && field.count > 0 && field.bitOffset >= 0)
        let bitCount = (descriptor.byteCount(ofReport: field.reportID) ?? 0) * 8
        precondition(field.bitOffset + field.bitSize * field.count <= bitCount, "a field beyond its report")
        // A field before the first ID of a malformed descriptor has none.
        precondition(field.reportID == 0 || descriptor.hasReportIDs)
    }
    let usages = [(0x0B, 0x20), (0x0B, 0x2F), (0x0C, 0xCD), (0x09, 1), (0, 0), (0xFFFF, 0xFFFF)].map {
        HIDUsage(page: $0.0, id: $0.1)
    }
    for usage in usages { feed(reports, descriptor, descriptor.controls(for: usage)) }
}

/// Feeds reports as the pieces of a recording, and each piece as one report of the device.
private func feed(_ reports: Span<UInt8>, _ descriptor: HIDReportDescriptor?, _ controls: [HIDControl]) {
    var splitter = HIDReportSplitter(descriptor)
    var contact = HIDContact(controls, hasReportIDs: descriptor?.hasReportIDs ?? false, isActiveLow: false)
    var byteCount = 0
    splitter.split(reports) { report in
        byteCount += report.count
        contact.receive(report)
    }
    precondition(byteCount <= reports.count, "more came out than went in")
    contact.receive(reports)
    precondition(!contact.isPressed || !controls.isEmpty)
}
