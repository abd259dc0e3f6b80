internal import Glibc

/// Tells which names appear in a folder or change their rights. The C functions are `inotify_init1` and
/// `inotify_add_watch`.
final class FolderWatch {
    /// The descriptor to wait for.
    let descriptor: Int32

    /// Returns nil if the folder does not exist, or if the user has too many watches.
    init?(_ folder: String) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        // The rules of udev set the rights shortly after a file has appeared: IN_ATTRIB.
        let mask = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR
        guard unsafe inotify_add_watch(descriptor, folder, UInt32(mask)) >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the names since the last call, without waiting; nil if the folder is gone.
    func names() -> [String]? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return [] }
        return Self.names(in: buffer.span.extracting(0..<count))
    }

    /// The names in the events of `struct inotify_event`; nil if an event says that the watch has ended (IN_IGNORED).
    static func names(in bytes: Span<UInt8>) -> [String]? {
        var names: [String] = []
        var place = 0
        while place + 16 <= bytes.count {
            let mask = number(bytes, place + 4)
            if mask & 0x8000 != 0 { return nil }
            let end = min(place + 16 + Int(number(bytes, place + 12)), bytes.count)
            var name: [UInt8] = []
            for index in place + 16..<end where bytes[index] != 0 { name.append(bytes[index]) }
            names.append(String(decoding: name, as: UTF8.self))
            place = end
        }
        return names
    }

    private static func number(_ bytes: Span<UInt8>, _ place: Int) -> UInt32 {
        var number: UInt32 = 0
        unsafe withUnsafeMutableBytes(of: &number) { for index in 0..<4 { unsafe $0[index] = bytes[place + index] } }
        return number
    }
}
