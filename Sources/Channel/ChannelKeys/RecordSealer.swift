/// Encrypts the records of one direction of a session.
public struct RecordSealer: Sendable {
    public let session: UInt64
    private let key: SecretBytes
    private var counter: UInt64 = 0

    init(session: UInt64, key: SecretBytes) {
        self.session = session
        self.key = key
    }

    /// Encrypts and appends a record that is neither a report nor one of a managed channel. The encrypted record is 36
    /// bytes longer than its content.
    public mutating func seal(_ record: Record, into datagram: inout OutputSpan<UInt8>) {
        record.requireNoContent()
        seal(record, content: Span(), into: &datagram)
    }

    /// Encrypts and appends a report: RTCP of 8 to 1232 bytes.
    public mutating func seal(report: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        Record.require(report: report)
        seal(.report(0..<report.count), content: report, into: &datagram)
    }

    /// Encrypts and appends a record of a managed channel. `content` is its type and body, at most 1233 bytes.
    public mutating func seal(managed content: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        Record.require(managed: content)
        seal(.managed(0..<content.count), content: content, into: &datagram)
    }

    private mutating func seal(_ record: Record, content: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        counter += 1
        key.withBytes {
            RecordFrame.seal(
                record, content: content, session: session, counter: counter, key: $0, into: &datagram)
        }
    }

    /// Encrypts and appends any bytes as a record, as a hostile member could. For tests.
    package mutating func seal(inside body: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        counter += 1
        key.withBytes {
            RecordFrame.seal(inside: body, session: session, counter: counter, key: $0, into: &datagram)
        }
    }
}

/// Decrypts the records of one direction of a session; accepts each counter once.
public struct RecordOpener: Sendable {
    private let key: SecretBytes
    private var window = ReplayWindow()

    /// The reason why a record was not accepted.
    public enum Failure: Error, Hashable, Sendable {
        /// The record's counter was used before, or is older than the replay window.
        case replayed
        /// The tag is wrong. The other side of the session did not encrypt the record, or it was changed in transit.
        case forged
        /// The other side of the session encrypted the record, but its content is invalid. The record's counter counts
        /// as used.
        case malformed(ControlParseError)
    }

    init(key: SecretBytes) { self.key = key }

    /// Decrypts a record in place. If the record is a report, it contains the range of the RTCP in `datagram`; if it is one
    /// of a managed channel, the range of its content.
    public mutating func open(_ datagram: inout MutableSpan<UInt8>) throws(Failure) -> Record {
        try key.withBytes { (key) throws(Failure) in
            try RecordFrame.open(&datagram, window: &window, key: key)
        }
    }
}
