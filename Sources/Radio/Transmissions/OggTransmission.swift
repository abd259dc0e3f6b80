internal import TenfourAudioCore
internal import TenfourOggOpus
internal import TenfourPackets

/// The Ogg Opus file of one transmission as bytes: packets as they were received, and packets without audio in the place
/// of those that were not.
///
/// A gap is filled with Opus packets whose frames are empty, as RFC 7845 section 4.1 asks for: granule positions go on
/// counting, and a decoder conceals the time or is silent. The rest of a gap that is too short for any packet of the
/// talker's mode is carried to the next gap.
struct OggTransmission {
    private(set) var transmission: Transmission

    private let serial: UInt32
    private let muxer: OggOpusMuxer
    /// The length of the comment header's packet, which leaves space for what is known at the end.
    private let commentByteCount: Int
    /// The packets of the next page. One is always kept for the last page, which ends the stream.
    private var pending: [OggOpusMuxer.Packet] = []
    private var end = FrameCount.zero
    /// The time without audio that could not be filled yet.
    private var owed = FrameCount.zero
    private var toc: OpusTOC?
    private var coded = CodedAudio()
    private var (receivedCount, lostCount, lossRuns) = (0, 0, 0)

    /// The duration of a page. What is cut off with a file is at most a page.
    private static let pageLength = FrameCount(9_600)
    /// The space for the loss and the score, which are known at the end.
    private static let reserve = 64
    /// The space for a talker's name that is known only at the end. It stands in two comments.
    private static let nameReserve = 256
    /// The longest talker and channel in the comments, in characters.
    private static let longestName = 64

    /// Begins a file. `serial` is the number of the stream.
    init(_ transmission: Transmission, serial: UInt32) {
        self.transmission = transmission
        self.serial = serial
        let comments = Self.comments(transmission)
        commentByteCount = (comments.bytes().count + Self.reserve + Self.nameReserve + 63) / 64 * 64
        muxer = OggOpusMuxer(serial: serial, .recording, comments: comments.bytes(paddedTo: commentByteCount))
    }

    /// The header pages that the file begins with.
    var header: [UInt8] { muxer.header }

    /// The header pages to be written over the first ones at the end. They have the same length.
    var finalHeader: [UInt8] {
        let comments = Self.comments(transmission).bytes(paddedTo: commentByteCount)
        guard comments.count == commentByteCount else { return muxer.header }
        return OggOpusMuxer(serial: serial, .recording, comments: comments).header
    }

    /// The duration of the audio so far.
    var duration: Duration { max(end - OpusIdentificationHeader.recording.preSkip, .zero).duration() }

    /// Adds a packet and the gap before it. Returns the page that is complete; empty if none is.
    mutating func append(_ packet: PacketSequencer<[UInt8]>.Packet) -> [UInt8] {
        var pages: [UInt8] = []
        fill(packet.gap, &pages)
        receivedCount += 1
        if packet.lostCount > 0 {
            lostCount += packet.lostCount
            lossRuns += 1
        }
        coded.add(byteCount: packet.payload.count, frameCount: packet.frameCount)
        toc = packet.payload.first.map { OpusTOC(rawValue: $0) }
        add(packet.payload, packet.frameCount, &pages)
        return pages
    }

    /// Sets the talker's name, which may be known only after the beginning, if there is space for it.
    mutating func rename(_ talker: String) {
        var renamed = transmission
        renamed.talker = talker
        guard !talker.isEmpty, Self.comments(renamed).bytes().count + Self.reserve <= commentByteCount else { return }
        transmission = renamed
    }

    /// Returns the last page; empty if there was no packet. The loss and the score are known then.
    mutating func finish() -> [UInt8] {
        transmission.duration = duration
        let sentCount = receivedCount + lostCount
        guard sentCount > 0 else { return [] }
        let loss = Double(lostCount) / Double(sentCount)
        let run = lossRuns > 0 ? Double(lostCount) / Double(lossRuns) : 1
        transmission.lossShare = loss
        transmission.score =
            EModel(
                lossShare: loss, burstRatio: max(run * (1 - loss), 1),
                codec: .opus(
                    bitRate: coded.bitRate ?? EModel.Codec.usualBitRate, frame: coded.frame ?? .milliseconds(20))
            ).score
        defer { pending = [] }
        return pending.isEmpty ? [] : muxer.append(pending, isLast: true)
    }

    /// Adds packets without audio.
    private mutating func fill(_ gap: FrameCount, _ pages: inout [UInt8]) {
        owed += gap
        guard let toc else { return }
        while let (payload, frameCount) = FillingPacket.concealment(after: toc, atMost: owed) {
            add(payload, frameCount, &pages)
            owed -= frameCount
        }
    }

    private mutating func add(_ payload: [UInt8], _ frameCount: FrameCount, _ pages: inout [UInt8]) {
        let begin = pending.first.map { $0.end } ?? end
        if end - begin >= Self.pageLength {
            pages += muxer.append(pending)
            pending = []
        }
        end += frameCount
        pending.append(OggOpusMuxer.Packet(payload: payload, end: end))
    }

    private static func comments(_ transmission: Transmission) -> OpusComments {
        let channel = String(fromPeer: transmission.channel, limit: longestName)
        let talker = String(fromPeer: transmission.talker, limit: longestName)
        let date = UTCTime(transmission.start).text
        var comments: [OpusComments.Comment] = [
            .init("TITLE", "\(channel) \(date)"), .init("ARTIST", talker), .init("DATE", date),
            .init("CHANNEL", channel), .init("TALKER", talker),
        ]
        if let loss = transmission.lossShare { comments.append(.init("LOSS", "\(hundredths(loss * 100)) %")) }
        if let score = transmission.score { comments.append(.init("SCORE", hundredths(score))) }
        return OpusComments(comments)
    }

    /// Returns a number with two decimal places.
    static func hundredths(_ number: Double) -> String {
        let count = Int((min(max(number, 0), 1e6) * 100).rounded())
        return "\(count / 100).\(count % 100 / 10)\(count % 10)"
    }
}
