// Writes the control datagrams that are not sealed and have no type of their own.

extension ControlPacket {
    /// Appends the 128 bytes of a HELLO.
    public static func writeHello(nonce: UInt128, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .hello)
        datagram.append(number: nonce)
        datagram.append(zeros: helloByteCount - 20)
    }

    /// Appends the 40 bytes of a COOKIE.
    public static func writeCookie(_ cookie: Cookie, nonce: UInt128, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .cookie)
        datagram.append(number: nonce)
        cookie.write(into: &datagram)
    }

    /// Appends the 128 bytes of a HELLO2.
    public static func writeHello2(nonce: UInt128, channelID: UInt128, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .hello2)
        datagram.append(number: nonce)
        datagram.append(number: channelID)
        datagram.append(zeros: helloByteCount - 36)
    }

    /// Appends the 104 bytes of a COOKIE2.
    public static func writeCookie2(_ cookie: Cookie2, nonce: UInt128, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .cookie2)
        datagram.append(number: nonce)
        cookie.write(into: &datagram)
    }

    /// Appends the 12 bytes of an UNKNOWN SESSION.
    public static func writeUnknownSession(_ session: UInt64, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .unknownSession)
        datagram.append(number: session)
    }

    /// Appends the 56 bytes of an ANNOUNCEMENT.
    public static func write(_ announcement: Announcement, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .announcement)
        announcement.write(into: &datagram)
    }

    /// Appends the 128 bytes of a SIGNED ANNOUNCEMENT. `announcement` are the 124 bytes of a `SignedAnnouncement` of
    /// `TenfourManagedChannel`.
    public static func write(signedAnnouncement announcement: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        precondition(announcement.count == signedAnnouncementRange.count, "no signed announcement")
        datagram.append(header: .signedAnnouncement)
        datagram.append(announcement)
    }
}

extension OutputSpan<UInt8> {
    @_lifetime(self: copy self)
    mutating func append(header kind: ControlPacket.Kind) {
        append(ControlPacket.firstByte)
        append(ControlPacket.version)
        append(kind.rawValue)
        append(0)
    }
}
