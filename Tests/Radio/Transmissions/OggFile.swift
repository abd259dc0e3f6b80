import TestSupport

/// The packets and pages of an Ogg file, parsed without libogg.
struct OggFile {
    struct Page {
        /// The offset of the end of the page.
        var end: Int
        var granule: Int
        var flags: UInt8
        var packets: [[UInt8]]
    }

    let pages: [Page]

    /// Reads a file in which no packet spans two pages.
    init(_ bytes: [UInt8]) {
        var (pages, place) = ([Page](), 0)
        while place + 27 <= bytes.count, bytes[place...].starts(with: Array("OggS".utf8)) {
            let granule = (0..<8).reduce(0) { $0 | Int(bytes[place + 6 + $1]) << (8 * $1) }
            let segments = bytes[(place + 27)..<(place + 27 + Int(bytes[place + 26]))]
            var (packets, packet, next) = ([[UInt8]](), [UInt8](), segments.endIndex)
            for segment in segments {
                packet += bytes[next..<(next + Int(segment))]
                next += Int(segment)
                if segment < 255 {
                    packets.append(packet)
                    packet = []
                }
            }
            pages.append(Page(end: next, granule: granule, flags: bytes[place + 5], packets: packets))
            place = next
        }
        self.pages = pages
    }

    init(path: String) { self.init(Folder.bytes(of: path)) }

    /// The packets after the headers.
    var audio: [[UInt8]] { pages.dropFirst(2).flatMap(\.packets) }
}
