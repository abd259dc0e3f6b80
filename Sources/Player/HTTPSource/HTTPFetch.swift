internal import CCurl
internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourUV

/// Fills a window with what lies at an address: asks, goes on where it broke off, asks for what the reader has gone to.
///
/// On the thread of its loop only, but for `init`.
final class HTTPFetch: CurlTransfer.Receiver, @unchecked Sendable {
    private let resource: Resource
    private let options: HTTPOptions
    private let window: SharedWindow
    private let refusal: HTTPRefusal

    private weak var duty: HTTPThreadBody?
    private var loop: EventLoop?
    private var transfer: CurlTransfer?
    private var stallTimer: LoopTimer?
    private var retryTimer: LoopTimer?

    /// What is on its way.
    private var request = Request()
    /// nil before the first response.
    private var known: Representation?
    /// Where the bytes have ended, whatever was told of their number.
    private var foundEnd: Int?
    /// Some servers know no ranges but refuse them.
    private var avoidsRanges = false
    /// Whether bytes have come. From then on a connection that breaks is tried again.
    private var hasWorked = false
    private var isPaused = false
    private var backOff = BackOff()
    private var lastProgress = Instant.start
    /// When the connection was lost; nil once bytes have come again.
    private var brokenSince: Instant?
    /// Where the server has hung up, and how often just there.
    private var hangUp = (offset: -1, count: 0)
    /// The redirects of the present request.
    private var redirect: Redirect

    private struct Request {
        var offset = 0
        var hasRange = false
        var isConditional = false
        var head = ResponseHead()
        var verdict: ResponseVerdict?
        /// Of the body, before it is what was asked for.
        var skipLeft = 0
        var demultiplexer: ICYDemultiplexer?
        var byteCount = 0
        /// The window was full.
        var isHeld = false
        /// The window failed.
        var failure: ByteSourceError?
    }

    /// So much shows that a connection is as good as any.
    private static let enoughToTrust = 64 << 10
    /// The body of a redirect is read up to this many bytes.
    private static let pageLimit = 16 << 10
    /// A server that hangs up so often at one byte has no more, whatever it says of the length.
    private static let hangUpsAtEnd = 3

    init(_ resource: Resource, _ options: HTTPOptions, into window: SharedWindow) {
        self.resource = resource
        self.options = options
        self.window = window
        refusal = HTTPRefusal(resource: resource, options: options)
        redirect = Redirect(from: resource)
    }

    func start(on duty: HTTPThreadBody) {
        duty.keep(self)
        self.duty = duty
        loop = duty.loop
        do throws(NetworkError) {
            transfer = CurlTransfer(on: try duty.multi(), for: self)
            stallTimer = try duty.loop.makeTimer { [weak self] in self?.lookForStall() }
            retryTimer = try duty.loop.makeTimer { [weak self] in self?.retryNow() }
            ask(from: 0)
        } catch {
            fail(.failed("\(error)"))
        }
    }

    /// The reader has room again, or wants something else.
    func demanded() {
        guard transfer != nil else { return }
        if let offset = window.restartWhereWanted() { return ask(from: offset) }
        guard request.isHeld, window.hasRoom else { return }
        request.isHeld = false
        window.update { if $0.phase == .full { $0.phase = .receiving } }
        expectProgress()
        transfer?.goOn()
    }

    func pause(_ isPaused: Bool) {
        self.isPaused = isPaused
        brokenSince = nil
        if !isPaused, transfer?.isRunning == true, !request.isHeld { expectProgress() }
    }

    /// For good.
    func stop() {
        transfer?.cancel()
        transfer = nil
        stallTimer?.close()
        retryTimer?.close()
        window.stop()
        duty?.forget(self)
    }

    // MARK: Asking

    private func ask(from offset: Int) {
        redirect = Redirect(from: resource)
        askThere(from: offset)
    }

    /// Asks at the address to which redirects have led.
    private func askThere(from offset: Int) {
        retryTimer?.disarm()
        request = Request()
        request.offset = offset
        request.hasRange = !avoidsRanges && known.map { $0.isSeekable && !$0.isLive } ?? true
        let validator = request.hasRange && offset > 0 ? known?.validator : nil
        request.isConditional = validator != nil
        let range = request.hasRange ? "\(offset)-" : nil
        guard let next = options.request(for: redirect.target, askedFor: resource, range: range, ifRange: validator)
        else { return }
        transfer?.start(next)
        expectProgress()
    }

    private func follow(_ location: String) {
        do throws(Redirect.Refusal) {
            try redirect.follow(location, allowsDowngrade: options.allowsDowngrade)
        } catch {
            if case .downgrade = error { return fail(.failed(refusal.sentence(error))) }
            if hasWorked { retry() } else { fail(.failed(refusal.sentence(error))) }
            return
        }
        askThere(from: request.offset)
    }

    private func retry() {
        var delay = backOff.next()
        let attempt = backOff.attempt
        if let limit = known?.isLive == true ? options.giveUpLiveAfter : options.giveUpAfter, let loop, !isPaused {
            let begin = brokenSince ?? loop.now
            brokenSince = begin
            let left = limit - (loop.now - begin)
            guard left > .zero else { return fail(.failed(refusal.givenUp(after: limit))) }
            delay = min(delay, left)
        }
        window.update { $0.phase = .reconnecting(attempt: attempt) }
        guard let loop else { return }
        stallTimer?.disarm()
        retryTimer?.arm(at: loop.now + delay)
    }

    private func retryNow() { ask(from: window.end) }

    private func expectProgress() {
        guard let loop else { return }
        lastProgress = loop.now
        if !isPaused { stallTimer?.arm(at: lastProgress + options.timeout) }
    }

    private func lookForStall() {
        guard let loop, let transfer, transfer.isRunning, !request.isHeld, !isPaused else { return }
        let deadline = lastProgress + options.timeout
        if loop.now < deadline {
            stallTimer?.arm(at: deadline)
            return
        }
        transfer.cancel()
        if hasWorked { retry() } else { fail(.failed(refusal.stalled)) }
    }

    // MARK: Being answered

    func headerArrived(_ line: Span<UInt8>) {
        // Behind a body come trailers.
        if request.verdict == nil { request.head.take(line) }
    }

    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> CurlTransfer.Answer {
        guard let transfer, let loop else { return .enough }
        let verdict = judged(status: transfer.status)
        if case .moved = verdict {
            // The body of a redirect is read to its end, so that the connection can serve the next request.
            request.byteCount += bytes.count
            return request.byteCount <= Self.pageLimit ? .taken : .enough
        }
        guard case .take = verdict else { return .enough }
        lastProgress = loop.now
        // Before any of it is taken: it comes again.
        if request.skipLeft < bytes.count, window.isFull {
            request.isHeld = true
            stallTimer?.disarm()
            window.update { $0.phase = .full }
            return .full
        }
        let skipped = min(request.skipLeft, bytes.count)
        request.skipLeft -= skipped
        do throws(ByteSourceError) {
            try unsafe keep(UnsafeRawBufferPointer(rebasing: bytes[skipped...]))
        } catch {
            request.failure = error
            return .enough
        }
        return .taken
    }

    private func keep(_ bytes: UnsafeRawBufferPointer) throws(ByteSourceError) {
        if unsafe bytes.isEmpty { return }
        if request.demultiplexer == nil {
            try unsafe window.append(bytes)
        } else {
            try unsafe request.demultiplexer?.take(bytes) { (sound) throws(ByteSourceError) in
                try unsafe window.append(sound)
            } found: { metadata in
                if let title = metadata.title { window.add(title: title) }
            }
        }
        hasWorked = true
        brokenSince = nil
        request.byteCount += bytes.count
        if request.byteCount >= Self.enoughToTrust { backOff.somethingCame() }
    }

    /// What the response means, found out when its body begins or it has none.
    private func judged(status: Int) -> ResponseVerdict {
        if let verdict = request.verdict { return verdict }
        let verdict = ResponseVerdict.on(
            status: status, request.head, from: request.offset, hasRange: request.hasRange, known: known)
        request.verdict = verdict
        if case .take(let skipping) = verdict {
            request.skipLeft = skipping
            adopt(isPart: status == 206)
        }
        return verdict
    }

    private func adopt(isPart: Bool) {
        if known?.isLive != false {
            known = Representation(request.head, isPart: isPart)
        } else if request.hasRange, request.offset > 0, !isPart {
            // It was sent whole. That may have been the condition, and the next time there is none.
            if request.isConditional {
                known?.entityTag = nil
                known?.lastModified = nil
            } else {
                known?.isSeekable = false
            }
        }
        request.demultiplexer = request.head.metadataInterval.flatMap { ICYDemultiplexer(interval: $0) }
        let head = request.head
        let place = redirect.target
        guard let known else { return }
        let foundEnd = foundEnd
        window.update { state in
            state.phase = .receiving
            state.byteCount = foundEnd ?? known.byteCount
            state.isSeekable = known.isSeekable
            state.isRepeatable = !known.isLive
            state.isLive = known.isLive
            state.contentType = head.contentType ?? state.contentType
            state.stationName = head.stationName ?? state.stationName
            state.resource = place
        }
    }

    // MARK: The end of an answer

    func transferEnded(_ end: CurlTransfer.End) {
        stallTimer?.disarm()
        if let failure = request.failure { return fail(failure) }
        let verdict = end.code == CURLE_OK ? judged(status: end.status) : request.verdict
        switch verdict {
        case .take: if end.code == CURLE_OK { bodyEnded() } else { broke(end) }
        case .ended: finish()
        case .askForWhole:
            avoidsRanges = true
            ask(from: request.offset)
        case .changed: fail(.failed(refusal.changed))
        case .moved(let location): follow(location)
        case .packed(let packing): fail(.failed(refusal.packed(packing)))
        case .refused(let isLasting):
            if hasWorked && !isLasting { retry() } else { fail(.failed(refusal.sentence(status: end.status))) }
        case nil: broke(end)
        }
    }

    private func bodyEnded() {
        let end = window.end
        if known?.isStation == true {
            retry()
        } else if let total = known?.byteCount, end < total {
            // A part of the part that was asked for.
            if request.byteCount > 0 { ask(from: end) } else { hungUp() }
        } else {
            finish()
        }
    }

    private func broke(_ end: CurlTransfer.End) {
        guard hasWorked else { return fail(.failed(refusal.sentence(end))) }
        if case .take = request.verdict, end.code == CURLE_PARTIAL_FILE { hungUp() } else { retry() }
    }

    private func hungUp() {
        let offset = window.end
        hangUp = (offset, hangUp.offset == offset ? hangUp.count + 1 : 1)
        if hangUp.count >= Self.hangUpsAtEnd { finish() } else { retry() }
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
