internal import TenfourChannelKeys

/// The file in which a relay keeps a managed channel, so that a restart loses nothing. It must be of mode 0600.
extension ManagedChannelStore {
    private static let firstLine = Array("tenfour managed channel 1\n".utf8)
    private static let memberByteCount = 226
    private static let hashByteCount = 32
    /// A file of more bytes is refused.
    public static let maximumFileByteCount =
        4096 + RosterContents.maximumByteCount + RosterCipher.maximumPageCount * 18
        + RosterContents.maximumEntryCount * memberByteCount

    /// Reads a file. Throws if it is damaged, or if it belongs to another channel or owner.
    public init(
        parsingFile bytes: Span<UInt8>, ownerKey: IdentityKey, channelID: UInt128
    ) throws(ManagedChannelFileError) {
        self.init(ownerKey: ownerKey, channelID: channelID)
        guard bytes.count >= Self.firstLine.count + Self.hashByteCount, bytes.count <= Self.maximumFileByteCount,
            Self.firstLine.indices.allSatisfy({ bytes[$0] == Self.firstLine[$0] })
        else { throw .damaged }
        let end = bytes.count - Self.hashByteCount
        let body = bytes.extracting(0..<end)
        guard Bytes32(hashing: body) == Bytes32(bytes, at: end) else { throw .damaged }
        var reader = FileReader(offset: Self.firstLine.count)
        guard let channel: UInt128 = reader.number(body), let owner = reader.bytes32(body) else { throw .damaged }
        guard channel == channelID, owner == ownerKey.bytes else { throw .anotherChannel }
        guard let hasRoster: UInt8 = reader.number(body) else { throw .damaged }
        if hasRoster == 1 { roster = try reader.roster(body) }
        guard let secret = reader.secretID(body), let prekeys: UInt64 = reader.number(body),
            let count: UInt16 = reader.number(body), count <= RosterContents.maximumEntryCount,
            body.count == reader.offset + Int(count) * Self.memberByteCount, (count > 0) == (roster != nil)
        else { throw .damaged }
        (secretID, prekeyCount) = (secret, prekeys)
        members.reserveCapacity(Int(count))
        for place in 0..<Int(count) {
            members.append(try Self.member(body, at: reader.offset + place * Self.memberByteCount))
        }
        places = MemberPlaces(members)
        guard let roster else { return }
        guard let list = try? AdmissionList(version: roster.head.version, checking: members.map(\.entry)),
            ownerKey.hasSigned(
                roster.head.message(channelID, roster.hash, list.hash), roster.head.signature)
        else { throw .damaged }
    }

    private static func member(_ body: Span<UInt8>, at start: Int) throws(ManagedChannelFileError) -> RelayMember {
        guard let entry = try? AdmissionList.Entry(parsing: body, at: start) else { throw .damaged }
        var member = RelayMember(entry)
        member.rosterVersion = body.number(at: start + 19)
        member.secret = GroupSecretID(parsing: body, at: start + 23)
        member.prekeyNumber = body.number(at: start + 33)
        if body[start + 41] == 1 { member.sealed = SealedGroupSecret(parsing: body, at: start + 42) }
        member.prekey = Prekey(parsing: body, at: start + 126)
        return member
    }

    public var fileContent: [UInt8] {
        let rosterByteCount = (roster?.pages ?? []).reduce(2048) { $0 + $1.count + 2 }
        let capacity = 256 + rosterByteCount + members.count * Self.memberByteCount
        let body = [UInt8](capacity: capacity) { bytes in
            bytes.append(Self.firstLine.span)
            bytes.append(number: channelID)
            ownerKey.bytes.write(into: &bytes)
            bytes.append(roster == nil ? 0 : 1)
            roster?.write(into: &bytes)
            secretID.write(into: &bytes)
            bytes.append(number: prekeyCount)
            bytes.append(number: UInt16(members.count))
            for member in members {
                member.entry.write(into: &bytes)
                bytes.append(number: member.rosterVersion)
                member.secret.write(into: &bytes)
                bytes.append(number: member.prekeyNumber)
                bytes.append(member.hasBlob ? 1 : 0)
                if let sealed = member.sealed { sealed.write(into: &bytes) } else { bytes.append(zeros: 84) }
                if let prekey = member.prekey { prekey.write(into: &bytes) } else { bytes.append(zeros: 100) }
            }
        }
        return body + Bytes32(hashing: body.span).bytes.array
    }
}

/// The reason why a relay's file of a channel is not used.
public enum ManagedChannelFileError: Error, Hashable, Sendable {
    /// The file is cut, changed, or of another form.
    case damaged
    /// The file is that of another channel, or of the same channel with another owner.
    case anotherChannel
}

extension RelayRoster {
    fileprivate func write(into bytes: inout OutputSpan<UInt8>) {
        head.write(into: &bytes)
        hash.write(into: &bytes)
        bytes.append(number: follows)
        for part in [sealedChange] + pages {
            bytes.append(number: UInt16(part.count))
            bytes.append(part.span)
        }
        bytes.append(number: UInt16(0))
    }
}

/// Reads fields one after the other; each result is nil if the bytes end before it.
private struct FileReader {
    var offset: Int

    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_ bytes: Span<UInt8>) -> Number? {
        let count = Number.bitWidth / 8
        guard bytes.count - offset >= count else { return nil }
        defer { offset += count }
        return bytes.number(at: offset)
    }

    mutating func bytes32(_ bytes: Span<UInt8>) -> Bytes32? {
        guard bytes.count - offset >= 32 else { return nil }
        defer { offset += 32 }
        return Bytes32(bytes, at: offset)
    }

    mutating func secretID(_ bytes: Span<UInt8>) -> GroupSecretID? {
        guard bytes.count - offset >= GroupSecretID.byteCount else { return nil }
        defer { offset += GroupSecretID.byteCount }
        return GroupSecretID(parsing: bytes, at: offset)
    }

    private mutating func part(_ bytes: Span<UInt8>) -> [UInt8]? {
        guard let count: UInt16 = number(bytes), bytes.count - offset >= Int(count) else { return nil }
        defer { offset += Int(count) }
        return (offset..<offset + Int(count)).map { bytes[$0] }
    }

    mutating func roster(_ bytes: Span<UInt8>) throws(ManagedChannelFileError) -> RelayRoster {
        guard bytes.count - offset >= RosterHead.byteCount else { throw .damaged }
        let head = RosterHead(parsing: bytes, at: offset)
        offset += RosterHead.byteCount
        guard let hash = bytes32(bytes), let follows: UInt32 = number(bytes), let change = part(bytes) else {
            throw .damaged
        }
        var pages: [[UInt8]] = []
        while let page = part(bytes) {
            if page.isEmpty {
                return RelayRoster(head: head, hash: hash, pages: pages, follows: follows, sealedChange: change)
            }
            guard pages.count < RosterCipher.maximumPageCount else { break }
            pages.append(page)
        }
        throw .damaged
    }
}
