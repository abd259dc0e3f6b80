/// Seals the records of one direction of a session.
public struct RecordSealer: Sendable {
    public let session: UInt64
    private let key: SecretBytes
    private var counter: UInt64 = 0

    init(session: UInt64, key: SecretBytes) {
        self.session = session
        self.key = key
    }

    /// Appends a record of anything but a report: 36 bytes and those inside.
    public mutating func seal(_ record: Record, into datagram: inout OutputSpan<UInt8>) {
        if case .report = record { preconditionFailure("a report is sealed with its bytes") }
        seal(record, report: Span(), into: &datagram)
    }

    /// Appends a record of RTCP, of 8 to 1232 bytes.
    public mutating func seal(report: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        precondition(
            (8...Record.maximumReportByteCount).contains(report.count), "no RTCP, or more than a datagram holds")
        seal(.report(0..<report.count), report: report, into: &datagram)
    }

    private mutating func seal(_ record: Record, report: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        counter += 1
        key.withBytes {
            RecordFrame.seal(
                record, report: report, session: session, counter: counter, key: $0, into: &datagram)
        }
    }

    /// Seals any bytes, as a hostile member could.
    package mutating func seal(inside body: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        counter += 1
        key.withBytes {
            RecordFrame.seal(inside: body, session: session, counter: counter, key: $0, into: &datagram)
        }
    }
}

/// Opens the records of one direction of a session, each once.
public struct RecordOpener: Sendable {
    private let key: SecretBytes
    private var window = ReplayWindow()

    /// The reason why a record was not opened.
    public enum Failure: Error, Hashable, Sendable {
        /// The record came before, or is too old to tell.
        case replayed
        /// The other side of the session has not sealed it, or it was changed on its way.
        case forged
        /// The other side has sealed it, but it is not a record. Its counter is spent.
        case malformed(ControlParseError)
    }

    init(key: SecretBytes) { self.key = key }

    /// Opens a record in place. A report is then in the clear, in the range that it names.
    public mutating func open(_ datagram: inout MutableSpan<UInt8>) throws(Failure) -> Record {
        try key.withBytes { (key) throws(Failure) in
            try RecordFrame.open(&datagram, window: &window, key: key)
        }
    }
}
