import TenfourChannelKeys

/// The file in which a member keeps the newest roster that it has held, and the owner the newest one that it has signed. It
/// has names, so it must be of mode 0600.
extension SignedRoster {
    private static let firstLine = Array("tenfour roster 1\n".utf8)
    private static let headByteCount = firstLine.count + 16 + Signature.byteCount
    /// A file of more bytes is refused.
    public static let maximumFileByteCount = headByteCount + RosterContents.maximumByteCount

    /// Parses a file, and verifies the signature. Throws if the file is damaged, or belongs to another channel. The caller
    /// must compare `ownerKey` with the owner that the link names.
    public init(parsingFile bytes: Span<UInt8>, channelID: UInt128) throws(RosterError) {
        let start = Self.firstLine.count
        guard bytes.count > Self.headByteCount,
            Self.firstLine.indices.allSatisfy({ bytes[$0] == Self.firstLine[$0] }),
            bytes.number(at: start, as: UInt128.self) == channelID
        else { throw .length }
        let contents = try RosterContents(parsing: bytes.extracting(Self.headByteCount..<bytes.count))
        try self.init(
            verifying: contents, Signature(parsing: bytes, at: start + 16),
            ownerHash: IdentityKey.ownerHash(of: contents.entries[0].key), channelID: channelID)
    }

    public var fileContent: [UInt8] {
        [UInt8](capacity: Self.headByteCount) {
            $0.append(Self.firstLine.span)
            $0.append(number: channelID)
            signature.write(into: &$0)
        } + contents.bytes
    }
}
