internal import Glibc
internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourSystem

/// The byte sources that are open for a stream, and what other threads want of them. For any thread.
final class HLSFetches: Sendable {
    private struct Contents: Sendable {
        var sources: [ObjectIdentifier: any ByteSource] = [:]
        var limits: BufferLimits
        var isInterrupted = false
        var isPaused = false
        /// When the present pause began; nil if there is none.
        var pauseStart: Instant?
        /// The duration of the pauses before.
        var paused = Duration.zero
        var isStopped = false
        var state: ByteSourceState
    }

    let services: HLSServices
    private let contents: Locked<Contents>

    /// The largest number of bytes that are fetched ahead, whatever limit is set: 16 MiB.
    private static let largestAhead = 16 << 20

    init(_ services: HLSServices, limits: BufferLimits, state: ByteSourceState) {
        self.services = services
        contents = Locked(Contents(limits: limits, state: state))
    }

    /// Starts fetching. Throws `.interrupted` after `stop`.
    func open(_ resource: Resource, _ range: Range<Int>?) throws(ByteSourceError) -> any ByteSource {
        let source = try services.open(resource, range, BufferLimits(ahead: aheadLimit, behind: 0))
        let isStopped = contents.withLock { contents in
            contents.sources[ObjectIdentifier(source)] = source
            if contents.isPaused { source.pause(true) }
            return contents.isStopped
        }
        guard isStopped else { return source }
        close(source)
        throw .interrupted
    }

    func close(_ source: any ByteSource) {
        contents.withLock { contents in contents.sources[ObjectIdentifier(source)] = nil }
        source.stop()
    }

    /// Throws if the reader's thread must stop waiting.
    func check() throws(ByteSourceError) {
        if contents.withLock({ $0.isInterrupted || $0.isStopped }) { throw .interrupted }
    }

    /// The largest number of bytes to fetch ahead.
    var aheadLimit: Int { min(limits.ahead, Self.largestAhead) }

    var limits: BufferLimits {
        get { contents.withLock { $0.limits } }
        set { contents.withLock { $0.limits = newValue } }
    }

    var state: ByteSourceState {
        get { contents.withLock { $0.state } }
        set { contents.withLock { if !$0.isStopped { $0.state = newValue } } }
    }

    func interrupt(_ isInterrupted: Bool) { contents.withLock { $0.isInterrupted = isInterrupted } }

    /// The duration of all pauses up to `now`.
    func paused(until now: Instant) -> Duration {
        contents.withLock { contents in
            contents.paused + (contents.pauseStart.map { max(now - $0, .zero) } ?? .zero)
        }
    }

    func pause(_ isPaused: Bool) {
        let now = services.now()
        contents.withLock { contents in
            if isPaused {
                contents.pauseStart = contents.pauseStart ?? now
            } else if let start = contents.pauseStart {
                contents.paused += max(now - start, .zero)
                contents.pauseStart = nil
            }
            contents.isPaused = isPaused
            for source in contents.sources.values { source.pause(isPaused) }
        }
    }

    func stop() {
        let sources = contents.withLock { contents in
            contents.isStopped = true
            defer { contents.sources = [:] }
            return Array(contents.sources.values)
        }
        for source in sources { source.stop() }
    }
}

/// A small file that is fetched whole, without waiting for it: a playlist, a key, or a header.
final class HLSDownload {
    private let fetches: HLSFetches
    private let source: any ByteSource
    private let range: Range<Int>?
    private let limit: Int
    private var bytes: [UInt8] = []
    private var room = [UInt8](repeating: 0, count: 16_384)

    /// Starts fetching at most `limit` bytes.
    init(_ resource: Resource, _ range: Range<Int>?, limit: Int, _ fetches: HLSFetches) throws(ByteSourceError) {
        self.fetches = fetches
        self.range = range
        self.limit = limit
        source = try fetches.open(resource, range)
    }

    deinit { fetches.close(source) }

    /// The address after redirects; nil until the server has answered.
    var resource: Resource? { source.state.resource }

    /// Waits a moment. Throws if the reader was interrupted, or `end` has passed.
    func wait(until end: Instant) throws(ByteSourceError) {
        try fetches.check()
        if fetches.services.now() > end {
            throw .failed("a playlist of this HLS stream does not arrive; try again later", kind: .timedOut)
        }
        usleep(5_000)
    }

    /// Returns all bytes once they have arrived, and nil before.
    func poll() throws(ByteSourceError) -> [UInt8]? {
        while true {
            guard let count = try source.readArrived(at: (range?.lowerBound ?? 0) + bytes.count, into: &room) else {
                return nil
            }
            bytes += room[..<count]
            guard bytes.count <= limit else {
                throw .failed("a file of this HLS stream is larger than \(limit) bytes; ask its operator")
            }
            if let range, bytes.count >= range.count { return Array(bytes.prefix(range.count)) }
            if count == 0 { return bytes }
        }
    }
}

extension ByteSource {
    /// Reads the bytes at `offset` that have arrived. Returns 0 at the end, and nil if no byte has arrived yet.
    func readArrived(at offset: Int, into room: inout [UInt8]) throws(ByteSourceError) -> Int? {
        let state = state
        if state.available.isEmpty || state.available.upperBound <= offset {
            switch state.phase {
            case .ended: break
            case .failed(let error): throw error
            case .connecting, .receiving, .full, .reconnecting: return nil
            }
        }
        var failure: ByteSourceError?
        let count = unsafe room.withUnsafeMutableBytes { room in
            do throws(ByteSourceError) {
                return unsafe try min(max(read(at: offset, into: room), 0), room.count)
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return count
    }
}
