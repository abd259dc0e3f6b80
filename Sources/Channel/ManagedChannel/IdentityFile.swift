internal import TenfourChannelKeys

/// The content of an identity's file: a line `tenfour identity 1`, and the seed as 52 letters.
extension MemberIdentity {
    /// A file of more bytes is refused.
    public static let maximumFileByteCount = 256
    private static let firstLine = Array("tenfour identity 1".utf8)

    /// Parses the content of a file. Accepts blanks at the end of a line, and lines that end in a carriage return. The
    /// letters are read as those of a link: also in capitals, and with hyphens anywhere.
    public init(parsingFile content: Span<UInt8>) throws(IdentityFileError) {
        guard content.count <= Self.maximumFileByteCount else { throw .tooLong }
        var lines = content.lines
        guard let first = lines.first, content.extracting(first).isEqual(to: Self.firstLine) else { throw .firstLine }
        lines.removeFirst()
        guard let line = lines.first, lines.dropFirst().allSatisfy(\.isEmpty) else { throw .seed }
        var digitCount = 0
        let digits = LockedBytes(count: line.count) { digits in
            for index in line where content[index] != UInt8(ascii: "-") {
                digits[digitCount] = content[index]
                digitCount += 1
            }
        }
        let seed = digits.withBytes { Base32.bytes($0.extracting(0..<digitCount), count: Self.seedByteCount) }
        guard let seed else { throw .seed }
        self.init(seed: seed.withBytes { LockedBytes(copying: $0) })
    }

    /// The content for a file, which must be of mode 0600.
    public var fileContent: LockedBytes {
        let front = Self.firstLine + [10]
        let letterCount = 52
        return LockedBytes(count: front.count + letterCount + 1) { bytes in
            for index in front.indices { bytes[index] = front[index] }
            withSeed { seed in
                for place in 0..<letterCount {
                    bytes[front.count + place] = Base32.alphabet[seed.bits(place, count: 5)]
                }
            }
            bytes[front.count + letterCount] = 10
        }
    }
}

/// The reason why a file does not hold an identity.
public enum IdentityFileError: Error, Hashable, Sendable {
    /// The file has more than 256 bytes.
    case tooLong
    /// The first line is not `tenfour identity 1`.
    case firstLine
    /// The second line is not a seed of 52 letters and digits, or there are more lines.
    case seed

    /// The fault of the file, as the end of a sentence that begins with its name.
    public var reason: String {
        switch self {
        case .tooLong: "is longer than \(MemberIdentity.maximumFileByteCount) bytes"
        case .firstLine: "does not begin with the line 'tenfour identity 1'"
        case .seed: "does not have one line of 52 letters and digits after its first line"
        }
    }
}

extension Span<UInt8> {
    /// The ranges of the lines, without line ends and without blanks at the end of a line.
    fileprivate var lines: [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        for index in 0...count where index == count || self[index] == 10 {
            var end = index
            while end > start, [32, 9, 13].contains(self[end - 1]) { end -= 1 }
            lines.append(start..<end)
            start = index + 1
        }
        return lines
    }

    fileprivate func isEqual(to bytes: [UInt8]) -> Bool {
        count == bytes.count && indices.allSatisfy { self[$0] == bytes[$0] }
    }
}
