import Glibc

/// Both ends of a pipe, closed when the object is released. A child process inherits an end only if the end is passed
/// to it.
public final class Pipe {
    public private(set) var output: Int32
    public private(set) var input: Int32

    public init() {
        // The pipe is a named one, because only `open` makes descriptors that are marked close-on-exec from the start.
        // With `pipe`, a child that starts before the marking would inherit them.
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

    /// Closes the reading end, like a reader that needs no more data.
    public func closeOutput() {
        if output >= 0 { close(output) }
        output = -1
    }

    /// Closes the writing end. Do this after passing the end to a child, so that the reader sees the end of the child's
    /// output.
    public func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Reads this number of bytes; fewer at the end of the data.
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
