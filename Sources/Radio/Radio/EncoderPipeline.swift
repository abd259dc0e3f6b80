internal import TenfourAudioCore
internal import TenfourOpusCodec
internal import TenfourResampling
internal import TenfourSystem
internal import TenfourVoiceProcessing

/// Converts captured audio to packets: resamples it, silences it while the microphone is closed, divides it into frames
/// of one packet each, and encodes these.
///
/// The microphone opens and closes between two such frames, with a fade of 5 ms so that nothing clicks. The frame in
/// which the microphone closes is sent too. It fades out, so that the other end conceals silence after it. The frames
/// from before the microphone opens (`PreRoll`) are sent as soon as it opens.
///
/// Use it on the capture thread only. Nothing is allocated after `init`.
struct EncoderPipeline: ~Copyable, Sendable {
    /// The mean square of the audio of the last completed packet, from which the level is computed.
    private(set) var meanSquare: Float = 0
    /// The number of packets dropped because the network thread was too slow.
    private(set) var overrunCount = 0

    private let format: LPCMFormat
    /// The duration of a packet in frames at the encoder's rate.
    private let frameCount: Int
    private var encoder: StreamEncoder
    /// The encoder's sample rate.
    private let rate: SampleRate
    /// The number of frames at 48 000 Hz in one frame at the encoder's rate.
    private let framesPerTick: Int
    private var settings: OpusEncoderSettings
    private var applied: UInt64 = 0
    private var converter: RateConverter?
    private var frame: FixedBuffer<Float>
    private var filled = 0
    private var preRoll: PreRoll
    /// The number of frames that are sent from before the key went down.
    private let preRollCount: Int
    private let packetMilliseconds: Int
    /// The remainder of converting missed frames to the encoder's rate, in units of 1 / (encoder's rate · source rate)
    /// s.
    private var remainder = 0
    /// The position at which the current packet starts, in frames at the encoder's rate since the start of the stream.
    /// Silence and missed audio count too.
    private var position = FrameCount.zero
    private var wasOpen = false
    /// The pauses of discontinuous transmission; nil if all packets are sent.
    private var pause: TransmissionPause?
    private var packet = FixedBuffer<UInt8>(repeating: 0, count: PacketSlot.capacity)

    /// The duration of a fade, 5 ms, in frames at the encoder's rate.
    private let rampLength: Int

    /// `format` is the format of the source, which has as many channels as `coding`. `waitsForFloor`: the microphone
    /// may open some time after the key went down.
    init(format: LPCMFormat, coding: CodingSettings, waitsForFloor: Bool = false) throws(RadioError) {
        precondition(format.channelCount == coding.channelCount, "the source is mixed to the channels that are sent")
        let encoder = try StreamEncoder(coding)
        let rate = encoder.format.rate
        let converter = try Self.converter(from: format, to: rate)
        framesPerTick = encoder.encoding.framesPerTick
        self.encoder = encoder
        self.rate = rate
        self.converter = converter
        self.format = format
        settings = coding.settings
        rampLength = FrameCount(.milliseconds(5), at: rate).rawValue
        frameCount = FrameCount(coding.frame, at: rate).rawValue
        frame = FixedBuffer(repeating: 0, count: frameCount * format.channelCount)
        let pauses = coding.isDiscontinuous && coding.encoding == .opus
        let encoded = LPCMFormat(rate: rate, channelCount: format.channelCount)
        pause = pauses ? TransmissionPause(format: encoded, frame: coding.frame) : nil
        preRollCount = Int((coding.preRoll / coding.frame).rounded(.up))
        packetMilliseconds = max(1, Int(coding.frame / .milliseconds(1)))
        let wait = waitsForFloor && coding.preRoll > .zero ? FloorControls.longestWait : .zero
        preRoll = PreRoll(
            lasting: coding.preRoll + wait, of: coding.frame, sampleCount: frameCount * format.channelCount)
    }

    /// Applies a requested `EncoderDemand` from the next frame on; zero requests no change.
    @_noAllocation @_noLocks
    mutating func apply(_ demand: UInt64) {
        guard demand != applied, let wanted = EncoderDemand(rawValue: demand) else { return }
        applied = demand
        wanted.apply(to: &settings)
        encoder.apply(settings)
    }

    /// Appends captured audio, and pushes each completed packet while the microphone is open (`isOpen`). Returns
    /// whether a packet was pushed. `waited` is the time in milliseconds for which the opened microphone has waited for
    /// the floor: its audio is sent too.
    @_noAllocation @_noLocks
    mutating func take(
        _ sound: borrowing FixedBuffer<Float>, frameCount captured: FrameCount, isOpen: Bool,
        afterWaiting waited: Int = 0, into packets: borrowing RingBufferProducer<OutgoingPacket>
    ) -> Bool {
        var used = 0
        if isOpen, !wasOpen {
            preRoll.removeOldest(downTo: preRollCount + (waited + packetMilliseconds - 1) / packetMilliseconds)
        }
        var hasPushed = isOpen && !wasOpen && sendPreRoll(into: packets)
        while used < captured.rawValue {
            used += fill(sound, from: used, to: captured.rawValue)
            guard filled == frameCount else { continue }
            if complete(isOpen: isOpen, into: packets) { hasPushed = true }
        }
        return hasPushed
    }

    /// Ends the input: pads the last packet's audio with silence and pushes the packet.
    @_noAllocation @_noLocks
    mutating func finish(into packets: borrowing RingBufferProducer<OutgoingPacket>) -> Bool {
        filled > 0 && pad(to: frameCount) && complete(isOpen: wasOpen, into: packets)
    }

    /// Skips audio that the source has missed, `missed` frames at the source's rate. The stream's time advances by this
    /// audio, and the next packet begins a talkspurt. Returns whether a packet was pushed.
    @_noAllocation @_noLocks
    mutating func skip(_ missed: FrameCount, into packets: borrowing RingBufferProducer<OutgoingPacket>) -> Bool {
        let scaled = missed.rawValue * rate.hertz + remainder
        remainder = scaled % format.rate.hertz
        var rest = scaled / format.rate.hertz
        guard rest > 0 else { return false }
        var hasPushed = false
        if filled > 0 {
            let begun = filled
            let isComplete = pad(to: min(frameCount, filled + rest))
            rest -= filled - begun
            guard isComplete else { return false }
            hasPushed = complete(isOpen: wasOpen, into: packets)
        }
        position += FrameCount(rest)
        wasOpen = false
        preRoll.removeAll()
        return hasPushed
    }

    /// Pads the current packet's audio with silence to `length` frames. Returns whether the packet is full.
    @_noAllocation @_noLocks
    private mutating func pad(to length: Int) -> Bool {
        for index in filled * format.channelCount..<length * format.channelCount { frame[index] = 0 }
        filled = length
        return filled == frameCount
    }

    /// Moves the captured frames from `start` to `end` into the current packet's audio, until all are moved or the
    /// packet is full. Returns the number of captured frames moved.
    @_noAllocation @_noLocks
    private mutating func fill(_ sound: borrowing FixedBuffer<Float>, from start: Int, to end: Int) -> Int {
        if let frames = Self.convert(
            sound, start * format.channelCount..<end * format.channelCount, with: &converter, into: &frame,
            behind: filled * format.channelCount)
        {
            filled += frames.produced.rawValue
            return frames.consumed.rawValue
        }
        let count = min(end - start, frameCount - filled)
        for index in 0..<count * format.channelCount {
            frame[filled * format.channelCount + index] = sound[start * format.channelCount + index]
        }
        filled += count
        return count
    }

    /// Ends the current packet's audio: sends it, or keeps it as pre-roll. Returns whether a packet was pushed.
    @_noAllocation @_noLocks
    private mutating func complete(isOpen: Bool, into packets: borrowing RingBufferProducer<OutgoingPacket>) -> Bool {
        meanSquare = Self.meanSquare(of: frame)
        let (start, startsTalkspurt) = (position, !wasOpen)
        let isSent = isOpen || wasOpen
        if isOpen != wasOpen { Self.fade(&frame, in: isOpen, rampLength, format.channelCount) }
        position += FrameCount(frameCount)
        filled = 0
        wasOpen = isOpen
        guard isSent else {
            preRoll.append(frame)
            return false
        }
        return encodeAndPush(at: start, startsTalkspurt: startsTalkspurt, into: packets)
    }

    /// Sends the frames from before the microphone opened, which begin the talkspurt. Returns whether there were any.
    @_noAllocation @_noLocks
    private mutating func sendPreRoll(into packets: borrowing RingBufferProducer<OutgoingPacket>) -> Bool {
        let count = preRoll.count
        guard count > 0 else { return false }
        for index in 0..<count {
            // The frame that is being captured waits in the place of the one that is sent.
            preRoll.exchangeOldest(with: &frame)
            if index == 0 { Self.fade(&frame, in: true, rampLength, format.channelCount) }
            _ = encodeAndPush(
                at: position - FrameCount((count - index) * frameCount), startsTalkspurt: index == 0, into: packets)
            preRoll.exchangeOldest(with: &frame)
            preRoll.removeOldest()
        }
        wasOpen = true
        return true
    }

    @_noAllocation @_noLocks
    private mutating func encodeAndPush(
        at start: FrameCount, startsTalkspurt: Bool, into packets: borrowing RingBufferProducer<OutgoingPacket>
    ) -> Bool {
        var (byteCount, startsTalkspurt) = (1, startsTalkspurt)
        switch Self.decide(frame, with: &pause, startsTalkspurt) {
        case .omit: return false
        case .encode(let isFirst):
            byteCount = Self.encode(frame, with: &encoder, into: &packet)
            guard byteCount > 0 else { return false }
            startsTalkspurt = isFirst
        // A packet with a frame of no bytes, of the kind that the encoder uses (RFC 6716 section 3.1).
        case .announcePause: packet[0] &= 0xFC
        }
        let isTaken = Self.push(
            packet, byteCount: byteCount, at: FrameCount(start.rawValue * framesPerTick),
            startsTalkspurt: startsTalkspurt, into: packets)
        if !isTaken { overrunCount += 1 }
        return isTaken
    }

    /// Fades a packet's audio in from silence if `comes` is true, or out to silence if it is false, over `ramp` frames.
    @_noAllocation @_noLocks
    private static func fade(_ frame: inout FixedBuffer<Float>, in comes: Bool, _ ramp: Int, _ channelCount: Int) {
        let frameCount = frame.count / channelCount
        let length = min(ramp, frameCount)
        for index in 0..<(comes ? length : frameCount) * channelCount {
            let share = min(Float(index / channelCount) / Float(length), 1)
            frame[index] *= comes ? share : 1 - share
        }
    }

    // The five functions below are exempt from the compiler's allocation check, which would take the end of a Span's
    // lifetime for a deallocation. Reviewed by hand: they free nothing.

    @_semantics("no_performance_analysis")
    private static func decide(
        _ frame: borrowing FixedBuffer<Float>, with pause: inout TransmissionPause?, _ startsTalkspurt: Bool
    ) -> TransmissionPause.Decision {
        pause?.decide(frame.span, startsTalkspurt: startsTalkspurt) ?? .encode(startsTalkspurt: startsTalkspurt)
    }

    @_semantics("no_performance_analysis")
    private static func meanSquare(of frame: borrowing FixedBuffer<Float>) -> Float {
        TenfourAudioCore.meanSquare(of: frame.span)
    }

    @_semantics("no_performance_analysis")
    private static func push(
        _ packet: borrowing FixedBuffer<UInt8>, byteCount: Int, at position: FrameCount, startsTalkspurt: Bool,
        into packets: borrowing RingBufferProducer<OutgoingPacket>
    ) -> Bool {
        packets.push { slot in
            slot.position = position
            slot.startsTalkspurt = startsTalkspurt
            slot.packet.fill(packet.span(in: 0..<byteCount))
        }
    }

    @_semantics("no_performance_analysis")
    private static func convert(
        _ sound: borrowing FixedBuffer<Float>, _ range: Range<Int>, with converter: inout RateConverter?,
        into frame: inout FixedBuffer<Float>, behind filled: Int
    ) -> (consumed: FrameCount, produced: FrameCount)? {
        var room = frame.mutableSpan(in: filled..<frame.count)
        return converter?.process(sound.span(in: range), into: &room)
    }

    @_semantics("no_performance_analysis")
    private static func encode(
        _ frame: borrowing FixedBuffer<Float>, with encoder: inout StreamEncoder, into packet: inout FixedBuffer<UInt8>
    ) -> Int {
        var room = packet.mutableSpan
        do { return try encoder.encode(frame.span, into: &room) } catch { return 0 }
    }

    private static func converter(from format: LPCMFormat, to rate: SampleRate) throws(RadioError) -> RateConverter? {
        guard format.rate != rate else { return nil }
        do {
            return try RateConverter(from: format.rate, to: rate, channelCount: format.channelCount)
        } catch {
            throw RadioError(error)
        }
    }
}
