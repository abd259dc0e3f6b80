import Glibc

/// Two ends of a pipe, closed when they are let go. No child inherits them that is not given one.
public final class Pipe {
    public private(set) var output: Int32
    public private(set) var input: Int32

    public init() {
        // By a name, since only `open` makes descriptors that are never inherited in between.
        let folder = Folder()
        let path = folder("pipe")
        precondition(unsafe mkfifo(path, 0o600) == 0, "a pipe can be made")
        output = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        input = unsafe open(path, O_WRONLY | O_CLOEXEC)
        _ = fcntl(output, F_SETFL, 0)
    }

    deinit {
        closeOutput()
        closeInput()
    }

    /// As a reader does who has had enough.
    public func closeOutput() {
        if output >= 0 { close(output) }
        output = -1
    }

    /// As one does who has handed it to a child, so that the reader learns of the child's end.
    public func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Reads this number of bytes; fewer at the end.
    public func read(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < count {
            let got = unsafe Glibc.read(output, &room, min(room.count, count - bytes.count))
            guard got > 0 else { break }
            bytes += room[..<got]
        }
        return bytes
    }
}
