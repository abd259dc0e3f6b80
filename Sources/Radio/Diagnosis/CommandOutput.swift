internal import CLinux
internal import Glibc
internal import TenfourSystem

/// The output of a program that is run without a shell and without input.
enum CommandOutput {
    /// Returns the standard output, at most 4 MiB; nil if the program is missing, fails, or does not end in time. It is
    /// then killed with its children. Its standard error is discarded.
    static func of(_ words: [String], within limit: Duration) -> [UInt8]? {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let process = try? SpawnedProcess(words, output: ends[1], errors: nil)
        close(ends[1])
        guard let process else { return nil }
        let deadline = ContinuousClock.now + limit
        let bytes = output(of: ends[0], until: deadline)
        // A program may close its output and go on.
        while bytes != nil, ContinuousClock.now < deadline {
            if let end = process.collect() { return end == .exit(code: 0) ? bytes : nil }
            usleep(1_000)
        }
        process.kill()
        process.wait()
        return nil
    }

    /// Returns all bytes until the writer closes the pipe; nil if it does not in time, or after 4 MiB.
    private static func output(of descriptor: Int32, until deadline: ContinuousClock.Instant) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < 1 << 22, ContinuousClock.now < deadline {
            guard clinux_wait_readable(descriptor, 100) > 0 else { continue }
            let count = unsafe read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += chunk[..<count]
        }
        return nil
    }
}
