/// The wire format of a record: header, encrypted body, tag.
enum RecordFrame {
    static let openByteCount = 20
    static let byteCount = openByteCount + AEAD.tagByteCount

    /// Encrypts a record and appends it. `content` is that of `Record.write`.
    static func seal(
        _ record: Record, content: Span<UInt8>, session: UInt64, counter: UInt64, key: Span<UInt8>,
        into datagram: inout OutputSpan<UInt8>
    ) {
        withTemporaryBytes(Record.maximumByteCount) { body in
            record.write(content: content, into: &body)
            seal(inside: body.span, session: session, counter: counter, key: key, into: &datagram)
        }
    }

    static func seal(
        inside body: Span<UInt8>, session: UInt64, counter: UInt64, key: Span<UInt8>,
        into datagram: inout OutputSpan<UInt8>
    ) {
        var start = InlineArray<20, UInt8>(repeating: 0)
        fill(&start) {
            $0.append(header: .record)
            $0.append(number: session)
            $0.append(number: counter)
        }
        datagram.append(start.span)
        AEAD.seal(body, counter: counter, data: start.span, key: key, into: &datagram)
    }

    /// Decrypts a record in place. Throws if the record is malformed, replayed or forged.
    static func open(
        _ datagram: inout MutableSpan<UInt8>, window: inout ReplayWindow, key: Span<UInt8>
    ) throws(RecordOpener.Failure) -> Record {
        guard datagram.count > byteCount, datagram.count <= ControlPacket.maximumByteCount else {
            throw .malformed(.length(datagram.count))
        }
        let counter: UInt64 = datagram.span.number(at: 12)
        guard counter > 0, window.accepts(counter) else { throw .replayed }
        var start = InlineArray<20, UInt8>(repeating: 0)
        for index in 0..<20 { start[index] = datagram[index] }
        var sealed = datagram._mutatingExtracting(openByteCount...)
        guard AEAD.open(&sealed, counter: counter, data: start.span, key: key) else { throw .forged }
        window.insert(counter)
        let body = datagram.span.extracting(openByteCount..<datagram.count - AEAD.tagByteCount)
        do {
            return try Record(parsing: body, at: openByteCount)
        } catch {
            throw .malformed(error)
        }
    }
}

/// Passes an empty buffer for `count` bytes to `body`. The memory is on the stack if it is small enough, and is valid
/// only while `body` runs.
func withTemporaryBytes(_ count: Int, _ body: (inout OutputSpan<UInt8>) -> Void) {
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { memory in
        var output = unsafe OutputSpan(buffer: memory, initializedCount: 0)
        body(&output)
        _ = unsafe output.finalize(for: memory)
    }
}
