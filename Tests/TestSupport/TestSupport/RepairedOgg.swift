/// Returns the bytes with the correct checksum in each complete page.
public func repairedOgg(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    var place = 0
    while place + 27 <= bytes.count {
        let segmentCount = Int(bytes[place + 26])
        let bodyStart = place + 27 + segmentCount
        guard bytes[place...].starts(with: "OggS".utf8), bodyStart <= bytes.count else {
            place += 1
            continue
        }
        let end = bytes[place + 27..<bodyStart].reduce(bodyStart) { $0 + Int($1) }
        guard end <= bytes.count else {
            place += 1
            continue
        }
        for index in 22..<26 { bytes[place + index] = 0 }
        var sum: UInt32 = 0
        for byte in bytes[place..<end] {
            sum ^= UInt32(byte) << 24
            for _ in 0..<8 { sum = sum & 1 << 31 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
        }
        for index in 0..<4 { bytes[place + 22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
        place = end
    }
    return bytes
}
