/// A channel's members as a relay lists them: an entry for each talker, and the number of all other members
/// (Protocol/06-control.md).
public enum Roster {
    /// The maximum number of entries in one record.
    public static let maximumEntryCount = 10
    /// The maximum number of entries in a page. A page is the relay's answer to a roster request.
    public static let pageLength = 50
    /// The maximum number of talkers that are listed. Further talkers are counted with the listeners.
    public static let maximumListedCount = 32

    /// The header of a record with changes of the roster.
    public struct Head: Hashable, Sendable {
        /// The revision of the roster after this change.
        public var revision: UInt32
        /// The revision of the roster before this change.
        public var previous: UInt32
        /// The number of members that are not listed, including the receiver if it is not listed.
        public var otherCount: UInt32
        /// The counter of the receiver's info that the relay has stored; zero if there is none.
        public var counter: UInt64

        static let byteCount = 20

        public init(revision: UInt32, previous: UInt32, otherCount: UInt32, counter: UInt64) {
            self.revision = revision
            self.previous = previous
            self.otherCount = otherCount
            self.counter = counter
        }

        init(parsing bytes: Span<UInt8>, at offset: Int) {
            revision = bytes.number(at: offset)
            previous = bytes.number(at: offset + 4)
            otherCount = bytes.number(at: offset + 8)
            counter = bytes.number(at: offset + 12)
        }

        func write(into bytes: inout OutputSpan<UInt8>) {
            bytes.append(number: revision)
            bytes.append(number: previous)
            bytes.append(number: otherCount)
            bytes.append(number: counter)
        }
    }

    /// The group of members whose entries a roster request asks for.
    public enum Part: UInt8, Sendable, CaseIterable {
        case listed = 0
        /// Members that are not listed and have sent an info.
        case others = 1
    }

    /// The header of a record with some entries of a page.
    public struct PageHead: Hashable, Sendable {
        public var part: Part
        public var revision: UInt32
        /// The index of the record's first entry among all entries of `part`.
        public var position: UInt32
        /// The number of all entries of `part`.
        public var total: UInt32

        static let byteCount = 13

        public init(part: Part, revision: UInt32, position: UInt32, total: UInt32) {
            self.part = part
            self.revision = revision
            self.position = position
            self.total = total
        }

        init(parsing bytes: Span<UInt8>, at offset: Int) throws(ControlParseError) {
            guard let part = Part(rawValue: bytes[offset]) else { throw .value }
            self.part = part
            revision = bytes.number(at: offset + 1)
            position = bytes.number(at: offset + 5)
            total = bytes.number(at: offset + 9)
        }

        func write(into bytes: inout OutputSpan<UInt8>) {
            bytes.append(part.rawValue)
            bytes.append(number: revision)
            bytes.append(number: position)
            bytes.append(number: total)
        }
    }

    /// One member in the roster.
    public struct Entry: Hashable, Sendable {
        /// The relay's number for the member. The number may be given to another member later.
        public var number: UInt32
        public var state: State

        public enum State: Hashable, Sendable {
            case gone
            /// The member is present. The value is nil if the member has sent no info, as with older implementations.
            case here(SealedMemberInfo?)
        }

        private enum Kind: UInt8 {
            case gone = 0
            case withoutInfo = 1
            case withInfo = 2
        }

        static let shortByteCount = 5
        package static let maximumByteCount = shortByteCount + SealedMemberInfo.byteCount

        public init(number: UInt32, _ state: State) {
            self.number = number
            self.state = state
        }

        /// Parses all entries in `bytes` from `offset` to the end, at most `most`.
        package static func all(
            parsing bytes: Span<UInt8>, from offset: Int, most: Int = maximumEntryCount
        ) throws(ControlParseError) -> [Entry] {
            var entries: [Entry] = []
            var offset = offset
            while offset < bytes.count {
                guard entries.count < most, offset + shortByteCount <= bytes.count else {
                    throw .length(bytes.count)
                }
                let number: UInt32 = bytes.number(at: offset)
                guard let kind = Kind(rawValue: bytes[offset + 4]) else { throw .value }
                offset += shortByteCount
                switch kind {
                case .gone: entries.append(Entry(number: number, .gone))
                case .withoutInfo: entries.append(Entry(number: number, .here(nil)))
                case .withInfo:
                    guard offset + SealedMemberInfo.byteCount <= bytes.count else { throw .length(bytes.count) }
                    entries.append(Entry(number: number, .here(try SealedMemberInfo(parsing: bytes, at: offset))))
                    offset += SealedMemberInfo.byteCount
                }
            }
            return entries
        }

        package func write(into bytes: inout OutputSpan<UInt8>) {
            bytes.append(number: number)
            switch state {
            case .gone: bytes.append(Kind.gone.rawValue)
            case .here(.none): bytes.append(Kind.withoutInfo.rawValue)
            case .here(.some(let info)):
                bytes.append(Kind.withInfo.rawValue)
                info.write(into: &bytes)
            }
        }
    }
}
