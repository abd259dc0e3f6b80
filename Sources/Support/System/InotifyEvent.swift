internal import Glibc

/// An event in a watched folder: the C structure is `inotify_event`.
package struct InotifyEvent: Hashable, Sendable {
    package var kinds: Kinds
    /// The name of the file in the folder; empty if the event concerns the folder itself.
    package var name: String
    /// Equal in the two events of a move within the folder, `movedAway` and then `movedHere`; 0 otherwise.
    package var cookie: UInt32

    package init(_ kinds: Kinds, name: String = "", cookie: UInt32 = 0) {
        self.kinds = kinds
        self.name = name
        self.cookie = cookie
    }

    package struct Kinds: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        private init(_ mask: Int) { rawValue = UInt32(mask) }

        package static let created = Self(Int(IN_CREATE))
        package static let movedAway = Self(Int(IN_MOVED_FROM))
        package static let movedHere = Self(Int(IN_MOVED_TO))
        /// Rights or owner changed.
        package static let attributesChanged = Self(Int(IN_ATTRIB))
        /// A file that was open for writing was closed.
        package static let closedAfterWriting = Self(Int(IN_CLOSE_WRITE))
        package static let folderDeleted = Self(Int(IN_DELETE_SELF))
        package static let folderMoved = Self(Int(IN_MOVE_SELF))
        /// The watch has ended, because the folder is gone. Always reported.
        package static let ended = Self(Int(IN_IGNORED))
        /// Events were lost, because too many waited. Always reported.
        package static let overflow = Self(Int(IN_Q_OVERFLOW))
    }

    /// Parses the events that one `read` has returned: number of the watch, kinds, cookie and length of the name, each of
    /// 32 bits in the order of this machine, then the name with zeros at the end. Ignores an event that is cut off.
    package static func all(in bytes: Span<UInt8>) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        var start = 0
        while start + headerByteCount <= bytes.count {
            let nameStart = start + headerByteCount
            let end = nameStart + Int(number(bytes, at: start + 12))
            guard end <= bytes.count else { break }
            var name: [UInt8] = []
            for index in nameStart..<end {
                guard bytes[index] != 0 else { break }
                name.append(bytes[index])
            }
            let kinds = Kinds(rawValue: number(bytes, at: start + 4))
            let cookie = number(bytes, at: start + 8)
            events.append(InotifyEvent(kinds, name: String(decoding: name, as: UTF8.self), cookie: cookie))
            start = end
        }
        return events
    }

    private static let headerByteCount = 16

    private static func number(_ bytes: Span<UInt8>, at place: Int) -> UInt32 {
        unsafe bytes.extracting(place..<place + 4).withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt32.self) }
    }
}
