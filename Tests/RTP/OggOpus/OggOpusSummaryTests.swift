import TenfourAudioCore
import TenfourOggOpus
import Testing

@Suite struct OggOpusSummaryTests {
    private let comments = OpusComments([.init("TALKER", "alice")])
    /// The headers, two pages of two packets of 20 ms, and a last page of one.
    private let header: [UInt8]
    private let pages: [[UInt8]]

    init() {
        let muxer = OggOpusMuxer(serial: 0xFEDC_BA98, .recording, comments: comments.bytes(paddedTo: 300))
        header = muxer.header
        let packets = (1...5).map {
            OggOpusMuxer.Packet(payload: [9 << 3, UInt8($0), 1, 2], end: FrameCount($0 * 960))
        }
        pages = [
            muxer.append(Array(packets[0..<2])), muxer.append(Array(packets[2..<4])),
            muxer.append([packets[4]], isLast: true),
        ]
    }

    private var file: [UInt8] { header + pages.joined() }

    @Test func aFileTellsWhatItsHeadersAndItsEndSay() throws {
        var summary = try OggOpusSummary(parsing: file.span)
        #expect(summary.comments == comments && summary.serial == 0xFEDC_BA98)
        #expect(summary.identification == .recording && summary.duration == nil)
        summary.readEnd(file.span)
        #expect(summary.end == FrameCount(4_800) && summary.isComplete)
        #expect(summary.duration == FrameCount(4_800 - 312).duration())
    }

    @Test func aCutFileEndsWithItsLastWholePage() throws {
        let file = file
        let firstEnd = header.count + pages[0].count
        for count in 0..<file.count {
            guard count >= header.count else {
                #expect(throws: OggOpusError.self) { try OggOpusSummary(parsing: file.span.extracting(first: count)) }
                continue
            }
            var summary = try OggOpusSummary(parsing: file.span.extracting(first: count))
            summary.readEnd(file.span.extracting(first: count))
            let expected = count < firstEnd ? nil : FrameCount(count < firstEnd + pages[1].count ? 1_920 : 3_840)
            #expect(summary.end == expected && !summary.isComplete)
        }
    }

    @Test func theEndIsFoundInTheLastBytesAlone() throws {
        var summary = try OggOpusSummary(parsing: header.span)
        let tail = Array(file[(header.count + 5)...])
        summary.readEnd(tail.span)
        #expect(summary.end == FrameCount(4_800) && summary.isComplete)
    }

    @Test func pagesOfAnotherStreamAreIgnored() throws {
        let other = OggOpusMuxer(serial: 1, .live, comments: comments.bytes())
        let last = other.append([OggOpusMuxer.Packet(payload: [8, 1], end: FrameCount(1 << 40))], isLast: true)
        let (head, tail) = (header + last + pages[0], pages[0] + last)
        var summary = try OggOpusSummary(parsing: head.span)
        summary.readEnd(tail.span)
        #expect(summary.end == FrameCount(1_920) && !summary.isComplete)
    }

    @Test func aDamagedPageIsSkipped() throws {
        var damaged = file
        damaged[file.count - 1] ^= 1
        var summary = try OggOpusSummary(parsing: header.span)
        summary.readEnd(damaged.span)
        #expect(summary.end == FrameCount(3_840) && !summary.isComplete)
        damaged = file
        damaged[30] ^= 1
        #expect(throws: OggOpusError.self) { try OggOpusSummary(parsing: damaged.span) }
    }

    @Test func commentsMaySpanPages() throws {
        let long = OpusComments([.init("PICTURE", String(repeating: "x", count: 90_000)), .init("TALKER", "bob")])
        let muxer = OggOpusMuxer(serial: 5, .recording, comments: long.bytes())
        let (whole, cut) = (muxer.header, Array(muxer.header[..<80_000]))
        #expect(try OggOpusSummary(parsing: whole.span).comments.value(of: "TALKER") == "bob")
        #expect(throws: OggOpusError.truncated) { try OggOpusSummary(parsing: cut.span) }
    }

    @Test func equalArgumentsGiveEqualHeaders() {
        let again = OggOpusMuxer(serial: 0xFEDC_BA98, .recording, comments: comments.bytes(paddedTo: 300))
        #expect(again.header == header)
    }
}
