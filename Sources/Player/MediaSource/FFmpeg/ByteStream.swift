#if FFmpeg
    internal import CAV

    /// Lets FFmpeg read a byte source. The C functions are `avio_alloc_context` and `avio_context_free`.
    @safe
    final class ByteStream {
        let byteSource: any ByteSource
        /// The offset in the resource that is offset 0 for FFmpeg.
        let start: Int
        /// The last error of the source; nil once `consumeFailure` has returned it.
        fileprivate var failure: ByteSourceError?
        /// The number of bytes that FFmpeg may still read. It limits the memory that a file makes FFmpeg use while it
        /// is opened.
        var allowance = Int.max
        private(set) var offset = 0
        let handle: UnsafeMutablePointer<AVIOContext>

        /// The bytes read before FFmpeg was opened, which the source may not be able to repeat.
        private let beginning: (offset: Int, bytes: [UInt8])

        /// Whether FFmpeg may seek to any offset: the source is seekable, or keeps all its bytes.
        let isSeekable: Bool

        /// The bytes of the resource within which FFmpeg may also seek back if the source is not seekable; nil if there
        /// are none.
        var confinement: Range<Int>? {
            didSet {
                let isFree = isSeekable || confinement != nil
                unsafe handle.pointee.seekable = isFree ? AVIO_SEEKABLE_NORMAL : 0
            }
        }

        private static let bufferSize: Int32 = 32_768

        /// Returns whether the next `count` bytes can be read without blocking.
        func isBuffered(_ count: Int) -> Bool {
            let state = byteSource.state
            return state.phase == .ended || state.held.upperBound >= start + offset + count
        }

        /// Whether all bytes can be read at any offset without a request.
        var isHere: Bool {
            let state = byteSource.state
            return isSeekable && state.phase == .ended && state.byteCount.map { state.held == 0..<$0 } ?? false
        }

        /// Creates a stream that continues to read the source of `window`.
        init?(_ window: borrowing ByteWindow, from start: Int, isHeld: Bool) {
            byteSource = window.byteSource
            beginning = window.held
            self.start = start
            isSeekable = isHeld || byteSource.state.isSeekable
            guard let buffer = unsafe av.av_malloc(Int(Self.bufferSize)) else { return nil }
            guard
                let handle = unsafe av.avio_alloc_context(
                    buffer.assumingMemoryBound(to: UInt8.self), Self.bufferSize, 0, nil, readBytes, nil, seekBytes)
            else {
                unsafe av.av_free(buffer)
                return nil
            }
            unsafe self.handle = handle
            unsafe handle.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
            unsafe handle.pointee.seekable = isSeekable ? AVIO_SEEKABLE_NORMAL : 0
        }

        deinit {
            // Frees the buffer that FFmpeg uses now. It may have replaced the buffer that it was given.
            unsafe av.av_free(handle.pointee.buffer)
            var handle: UnsafeMutablePointer<AVIOContext>? = unsafe handle
            unsafe av.avio_context_free(&handle)
        }

        /// Returns and clears the source's error that made a call to FFmpeg fail, if any. Reading may then continue.
        func consumeFailure() -> ByteSourceError? {
            defer { failure = nil }
            return failure
        }

        /// Clears FFmpeg's permanent end and error flags; the end or error of the byte source may be temporary.
        func forgetEnd() {
            unsafe handle.pointee.eof_reached = 0
            unsafe handle.pointee.error = 0
        }

        fileprivate func read(into room: UnsafeMutableRawBufferPointer) -> Int32 {
            guard allowance > 0 else { return tenfour_av_not_permitted() }
            if let length = byteSource.state.byteCount, start + offset >= length { return tenfour_av_eof() }
            if let confinement, !confinement.contains(start + offset) { return tenfour_av_eof() }
            let place = start + offset - beginning.offset
            if beginning.bytes.indices.contains(place) {
                let count = min(beginning.bytes.count - place, room.count)
                for index in 0..<count { unsafe room[index] = beginning.bytes[place + index] }
                offset += count
                return Int32(count)
            }
            do throws(ByteSourceError) {
                let count = unsafe try min(byteSource.read(at: start + offset, into: room), room.count)
                guard count > 0 else { return tenfour_av_eof() }
                offset += count
                allowance -= count
                return Int32(count)
            } catch {
                failure = error
                return tenfour_av_exit()
            }
        }

        fileprivate func seek(to place: Int64, _ whence: Int32) -> Int64 {
            let end = confinement?.upperBound ?? byteSource.state.byteCount
            let length = end.map { max($0 - start, 0) }
            if whence & AVSEEK_SIZE != 0 { return length.map(Int64.init) ?? Int64(tenfour_av_not_supported()) }
            let base: Int
            switch whence & ~AVSEEK_FORCE {
            case 0: base = 0
            case 1: base = offset
            case 2:
                guard let length else { return Int64(tenfour_av_not_supported()) }
                base = length
            default: return Int64(tenfour_av_not_supported())
            }
            let (sum, isTooFar) = base.addingReportingOverflow(Int(place))
            guard !isTooFar, sum >= 0, sum < 1 << 60 else { return Int64(tenfour_av_not_supported()) }
            // Allows a seek forward, or back within the bytes that are buffered or were read before FFmpeg was opened.
            // Any other seek needs a seekable source.
            guard
                isSeekable || sum >= offset || beginning.bytes.indices.contains(start + sum - beginning.offset)
                    || confinement?.contains(start + sum) == true
            else {
                return Int64(tenfour_av_not_supported())
            }
            offset = sum
            return Int64(sum)
        }
    }

    @c
    private func readBytes(_ opaque: UnsafeMutableRawPointer?, _ room: UnsafeMutablePointer<UInt8>?, _ count: Int32)
        -> Int32
    {
        guard let opaque = unsafe opaque, count > 0 else { return tenfour_av_not_supported() }
        let stream = unsafe Unmanaged<ByteStream>.fromOpaque(opaque).takeUnretainedValue()
        return unsafe stream.read(into: UnsafeMutableRawBufferPointer(start: room, count: Int(count)))
    }

    @c
    private func seekBytes(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
        guard let opaque = unsafe opaque else { return Int64(tenfour_av_not_supported()) }
        return unsafe Unmanaged<ByteStream>.fromOpaque(opaque).takeUnretainedValue().seek(to: offset, whence)
    }
#endif
