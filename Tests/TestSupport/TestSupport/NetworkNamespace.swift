import Glibc

/// Network namespaces in which nothing but the loopback interface exists.
package enum NetworkNamespace {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    /// Whether this user may make namespaces, and ip(8) is there to set them up.
    package static let isPossible = geteuid() == 0 && (try? Program.run("ip", ["-V"])) != nil

    /// Runs `body` on a thread of its own in a new namespace, and waits for its end. Threads and programs that it starts are
    /// there, too.
    package static func run<Result>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
        let box = Box<Result>()
        let work = Work {
            box.result = Swift.Result {
                try enter()
                return try body()
            }
        }
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, nil, threadMain, Unmanaged.passRetained(work).toOpaque())
        precondition(code == 0)
        pthread_join(thread, nil)
        guard let result = box.result else { throw Failure(description: "the thread did nothing") }
        return try result.get()
    }

    // Unchecked, because the thread has ended before the result is read.
    private final class Box<Result>: @unchecked Sendable {
        var result: Swift.Result<Result, any Error>?
    }

    /// Moves the calling thread to a new namespace, which ends with the thread and its sockets. The C function is `unshare`,
    /// which the C library declares for `_GNU_SOURCE` only.
    private static func enter() throws {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = unsafe dlsym(nil, "unshare") else { throw Failure(description: "no unshare") }
        let newNetwork: Int32 = 0x4000_0000
        let code = unsafe unsafeBitCast(symbol, to: Unshare.self)(newNetwork)
        if code != 0 { throw Failure(description: "unshare: errno \(errno)") }
        for family in ["all", "default"] {
            let path = "/proc/sys/net/ipv6/conf/\(family)/disable_ipv6"
            let file = unsafe fopen(path, "w")
            if let file = unsafe file {
                unsafe fputs("1", file)
                unsafe fclose(file)
            }
        }
        try set(up: ["ip link set lo up"])
    }

    /// Runs commands of ip(8) and tc(8) in the namespace of the calling thread.
    package static func set(up lines: [String]) throws {
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            let (end, _, errors) = try Program.run(words[0], Array(words.dropFirst()))
            if end != .code(0) { throw Failure(description: "\(line): \(errors)") }
        }
    }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

@c private func threadMain(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work = unsafe work { unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
    return nil
}
