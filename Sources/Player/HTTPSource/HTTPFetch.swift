internal import CCurl
internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourPacing
internal import TenfourUV

/// Fills a window with the bytes of an address: sends requests, resumes after a break, and follows the reader's seeks.
///
/// Any thread may call `init`; use all other members only on the loop's thread.
final class HTTPFetch: CurlTransfer.Receiver, @unchecked Sendable {
    private let resource: Resource
    private let options: HTTPOptions
    private let window: SharedWindow
    /// The offset at which the requested bytes end; nil for the end of the resource.
    private let bound: Int?
    private let refusal: FetchRefusal

    private weak var thread: HTTPLoopThread?
    private var loop: EventLoop?
    private var transfer: CurlTransfer?
    private var stallTimer: LoopTimer?
    private var retryTimer: LoopTimer?

    /// The request in progress.
    private var request = Request()
    /// The length and entity tag stated by earlier responses; nil before the first response.
    private var known: Representation?
    /// The offset at which the server had no more bytes, whatever length was stated; nil if unknown.
    private var foundEnd: Int?
    /// Whether the server rejects range requests instead of ignoring them.
    private var avoidsRanges = false
    /// Whether libcurl decompresses a body. It refuses one whose header names no compression that it knows.
    private var decompresses = true
    /// Whether any bytes have arrived. From then on a broken connection is retried.
    private var hasWorked = false
    private var isPaused = false
    /// The pauses between attempts to restore a broken connection, and the number of these attempts since a connection
    /// was last stable (`stableByteCount`).
    private var backoff = Backoff(first: .milliseconds(250), longest: .seconds(30))
    /// The time at which bytes last arrived, or at which the present wait for bytes began.
    private var lastProgress = Instant.start
    /// The moment at which the connection broke; nil after bytes have arrived again.
    private var brokenSince: Instant?
    /// The offset at which the server last closed the connection, and the number of times in succession that this
    /// happened at the same offset.
    private var hangUp = (offset: -1, count: 0)
    /// The redirects of the present request.
    private var redirect: Redirect
    /// The first bytes of a resource of which the server states nothing.
    private var beginning = RepeatedBeginning()

    private struct Request {
        var offset = 0
        var hasRange = false
        var isConditional = false
        var head = ResponseHead()
        var action: ResponseAction?
        /// The number of bytes of the body to skip before the requested offset.
        var skipLeft = 0
        var demultiplexer: ICYDemultiplexer?
        var byteCount = 0
        /// The number of bytes of the body so far, after decompression.
        var unpackedByteCount = 0
        /// Whether the transfer is paused because the window is full.
        var isPausedByWindow = false
        /// The error that the window reported when bytes were stored.
        var failure: ByteSourceError?
        /// Whether the transfer was ended because all requested bytes have arrived.
        var hasAll = false
    }

    /// The number of bytes that a connection must deliver before it counts as stable: 64 KiB.
    private static let stableByteCount = 64 << 10
    /// The maximum number of bytes of a redirect's body that are read. A longer body is aborted, and its connection is
    /// not reused.
    private static let pageLimit = 16 << 10
    /// If the server closes the connection this number of times in succession at the same offset, the offset is treated
    /// as the end, whatever length was stated. Without a stated length, it is an error.
    private static let hangUpsAtEnd = 3

    init(_ resource: Resource, _ options: HTTPOptions, into window: SharedWindow, upTo bound: Int? = nil) {
        self.bound = bound
        self.resource = resource
        self.options = options
        self.window = window
        refusal = FetchRefusal(resource: resource, options: options)
        redirect = Redirect(from: resource)
    }

    func start(on thread: HTTPLoopThread) {
        thread.add(self)
        self.thread = thread
        loop = thread.loop
        do throws(NetworkError) {
            transfer = CurlTransfer(on: try thread.multi(), for: self)
            stallTimer = try thread.loop.makeTimer { [weak self] in self?.checkForStall() }
            retryTimer = try thread.loop.makeTimer { [weak self] in self?.retryNow() }
            sendRequest(from: window.end)
        } catch {
            fail(.failed("\(error)", kind: .resourcesExhausted))
        }
    }

    /// Continues the download when the reader's buffer has space again, or when the reader waits for bytes at another
    /// offset.
    func serveReader() {
        guard transfer != nil else { return }
        if let offset = window.restartWhereWanted() { return sendRequest(from: offset) }
        guard request.isPausedByWindow, window.hasRoom else { return }
        request.isPausedByWindow = false
        window.update { if $0.phase == .full { $0.phase = .receiving } }
        expectProgress()
        transfer?.unpause()
    }

    func pause(_ isPaused: Bool) {
        self.isPaused = isPaused
        brokenSince = nil
        if !isPaused, transfer?.isRunning == true, !request.isPausedByWindow { expectProgress() }
    }

    /// Stops the download. It cannot be started again.
    func stop() {
        transfer?.cancel()
        transfer = nil
        stallTimer?.close()
        retryTimer?.close()
        window.stop()
        thread?.remove(self)
    }

    // MARK: Requests

    private func sendRequest(from offset: Int) {
        redirect = Redirect(from: resource)
        sendRequestToTarget(from: offset)
    }

    /// Sends the request to the redirects' present target.
    private func sendRequestToTarget(from offset: Int) {
        retryTimer?.disarm()
        request = Request()
        request.offset = offset
        request.hasRange = !avoidsRanges && known.map { $0.isSeekable && !$0.isLive } ?? true
        let validator = request.hasRange && offset > 0 ? known?.validator : nil
        request.isConditional = validator != nil
        let range = request.hasRange ? "\(offset)-\(bound.map { String($0 - 1) } ?? "")" : nil
        guard var next = options.request(for: redirect.target, askedFor: resource, range: range, ifRange: validator)
        else { return }
        next.decompresses = decompresses
        transfer?.start(next)
        expectProgress()
    }

    private func follow(_ location: String) {
        do throws(Redirect.Refusal) {
            try redirect.follow(location, allowsDowngrade: options.allowsDowngrade)
        } catch {
            if case .downgrade = error { return fail(refusal.error(error)) }
            if hasWorked { retry() } else { fail(refusal.error(error)) }
            return
        }
        sendRequestToTarget(from: request.offset)
    }

    private func retry() {
        var delay = backoff.next()
        let attempt = backoff.count
        if let limit = known?.isLive == true ? options.giveUpLiveAfter : options.giveUpAfter, let loop, !isPaused {
            let begin = brokenSince ?? loop.now
            brokenSince = begin
            let left = limit - (loop.now - begin)
            guard left > .zero else { return fail(refusal.givenUp(after: limit)) }
            delay = min(delay, left)
        }
        window.update { $0.phase = .reconnecting(attempt: attempt) }
        guard let loop else { return }
        stallTimer?.disarm()
        retryTimer?.arm(at: loop.now + delay)
    }

    private func retryNow() { sendRequest(from: window.end) }

    private func expectProgress() {
        guard let loop else { return }
        lastProgress = loop.now
        if !isPaused { stallTimer?.arm(at: lastProgress + options.timeout) }
    }

    private func checkForStall() {
        guard let loop, let transfer, transfer.isRunning, !request.isPausedByWindow, !isPaused else { return }
        let deadline = lastProgress + options.timeout
        if loop.now < deadline {
            stallTimer?.arm(at: deadline)
            return
        }
        transfer.cancel()
        if hasWorked { retry() } else { fail(refusal.stalled) }
    }

    // MARK: Responses

    func headerArrived(_ line: Span<UInt8>) {
        // Parses only the headers before the body, since headers after the body are trailers.
        if request.action == nil { request.head.parse(line) }
    }

    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> CurlTransfer.WriteResult {
        guard let transfer, let loop else { return .aborted }
        let action = responseAction(status: transfer.status)
        if case .moved = action {
            // Reads the body of a redirect to its end, so that the connection can be reused.
            request.byteCount += bytes.count
            return request.byteCount <= Self.pageLimit ? .accepted : .aborted
        }
        guard case .useBody = action else { return .aborted }
        lastProgress = loop.now
        do throws(ByteSourceError) {
            switch unsafe beginning.compare(bytes) {
            case .decided: break
            case .undecided: return .accepted
            case .repeated(let offset): request.skipLeft = window.end - offset
            case .live(let before):
                try unsafe before.span.withUnsafeBytes { before throws(ByteSourceError) in try unsafe store(before) }
            }
        } catch {
            request.failure = error
            return .aborted
        }
        // Pauses before any byte is consumed, since libcurl delivers all of `bytes` again.
        if request.skipLeft < bytes.count, window.isFull {
            request.isPausedByWindow = true
            stallTimer?.disarm()
            window.update { $0.phase = .full }
            return .paused
        }
        request.unpackedByteCount += bytes.count
        if request.head.packing != nil, request.unpackedByteCount > transfer.largestUnpackedByteCount {
            request.failure = refusal.expandsTooMuch
            return .aborted
        }
        let skipped = min(request.skipLeft, bytes.count)
        request.skipLeft -= skipped
        // Takes no bytes after the requested ones, which a server without range requests sends.
        let end = min(bytes.count, skipped + max((bound ?? .max) - window.end, 0))
        do throws(ByteSourceError) {
            try unsafe store(UnsafeRawBufferPointer(rebasing: bytes[skipped..<end]))
        } catch {
            request.failure = error
            return .aborted
        }
        request.hasAll = end < bytes.count
        return request.hasAll ? .aborted : .accepted
    }

    private func store(_ bytes: UnsafeRawBufferPointer) throws(ByteSourceError) {
        if unsafe bytes.isEmpty { return }
        if request.demultiplexer == nil {
            try unsafe window.append(bytes)
            if isUnstated { unsafe beginning.keep(bytes) }
        } else {
            try unsafe request.demultiplexer?.feed(bytes) { (sound) throws(ByteSourceError) in
                try unsafe window.append(sound)
            } found: { metadata in
                if let title = metadata.title { window.add(title: title) }
            }
        }
        hasWorked = true
        brokenSince = nil
        request.byteCount += bytes.count
        if request.byteCount >= Self.stableByteCount { backoff.succeeded() }
    }

    /// Returns the action for the response. Called when its body begins, or at its end if it has no body.
    private func responseAction(status: Int) -> ResponseAction {
        if let action = request.action { return action }
        let action = ResponseAction.on(
            status: status, request.head, from: request.offset, hasRange: request.hasRange, known: known)
        request.action = action
        if case .useBody(let skipping) = action {
            if isUnstated { beginning.beginResponse() }
            request.skipLeft = skipping
            adopt(isPart: status == 206)
        }
        return action
    }

    private func adopt(isPart: Bool) {
        if known?.isLive != false {
            known = Representation(request.head, isPart: isPart)
        } else if request.hasRange, request.offset > 0, !isPart {
            // Sends the next request without the If-Range condition, which may be the reason why the server sent the
            // whole body instead of the range.
            if request.isConditional {
                known?.entityTag = nil
                known?.lastModified = nil
            } else {
                known?.isSeekable = false
            }
        }
        if avoidsRanges { known?.isSeekable = false }
        request.demultiplexer = request.head.metadataInterval.flatMap { ICYDemultiplexer(interval: $0) }
        let head = request.head
        let place = redirect.target
        let endOffset = endOffset
        guard let known else { return }
        let foundEnd = foundEnd
        window.update { state in
            state.phase = .receiving
            state.byteCount = foundEnd ?? endOffset
            state.isSeekable = known.isSeekable
            state.isRepeatable = !known.isLive
            state.isLive = known.isLive
            state.contentType = head.contentType ?? state.contentType
            state.stationName = head.stationName ?? state.stationName
            state.headers = head.headers
            state.resource = place
        }
    }

    // MARK: End of a response

    func transferEnded(_ end: CurlTransfer.End) {
        stallTimer?.disarm()
        if let failure = request.failure { return fail(failure) }
        if request.hasAll { return finish() }
        let isUndecodable = end.code == CURLE_BAD_CONTENT_ENCODING
        // The body of a redirect or of an error page does not matter.
        if isUndecodable, 200..<300 ~= end.status {
            if let packing = request.head.packing { return fail(refusal.packed(packing)) }
            // The header names something other than a compression, such as a character set.
            guard decompresses else { return connectionBroke(end) }
            decompresses = false
            return sendRequest(from: request.offset)
        }
        let action = end.code == CURLE_OK || isUndecodable ? responseAction(status: end.status) : request.action
        switch action {
        case .useBody: if end.code == CURLE_OK { bodyEnded() } else { connectionBroke(end) }
        case .ended: finish()
        case .retryWithoutRange:
            avoidsRanges = true
            sendRequest(from: request.offset)
        case .changed: fail(refusal.changed)
        case .moved(let location): follow(location)
        case .refused(let isLasting):
            if hasWorked && !isLasting { retry() } else { fail(refusal.error(status: end.status)) }
        case nil: connectionBroke(end)
        }
    }

    private func bodyEnded() {
        let end = window.end
        if known?.isStation == true {
            retry()
        } else if let total = endOffset, end < total {
            // Requests the missing bytes, since the server sent only a part of the requested range.
            if request.byteCount > 0 { sendRequest(from: end) } else { serverHungUp() }
        } else {
            finish()
        }
    }

    /// Whether the server has stated nothing by which a file is told from a live stream.
    private var isUnstated: Bool { known.map { $0.isLive && !$0.isStation } ?? false }

    /// The offset at which the requested bytes end; nil if it is unknown.
    private var endOffset: Int? { known?.byteCount.map { min($0, bound ?? .max) } }

    private func connectionBroke(_ end: CurlTransfer.End) {
        guard hasWorked else { return fail(refusal.error(end)) }
        if case .useBody = request.action, end.code == CURLE_PARTIAL_FILE { serverHungUp() } else { retry() }
    }

    private func serverHungUp() {
        let offset = beginning.isLive ? request.byteCount : window.end
        hangUp = (offset, hangUp.offset == offset ? hangUp.count + 1 : 1)
        guard hangUp.count >= Self.hangUpsAtEnd else { return retry() }
        // Where a length is stated, the demuxer finds what is missing.
        if endOffset == nil, known?.isStation == false { fail(refusal.incomplete) } else { finish() }
    }

    private func finish() {
        foundEnd = window.end
        window.finish()
    }

    private func fail(_ error: ByteSourceError) {
        transfer?.cancel()
        window.update { $0.phase = .failed(error) }
    }
}
