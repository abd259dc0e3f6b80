internal import TenfourPackets

extension SRTPSuite {
    /// Makes libsrtp load and test its ciphers now, which takes about 70 ms and would otherwise delay the first packet.
    public func prepare() {
        let key = SRTPMasterKey(self, SecretBytes(count: masterByteCount) { _ in })
        let ssrc = SSRC(1)
        let index = PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0))
        guard var sender = try? SRTPContext(sending: key, ssrc: ssrc),
            var receiver = try? SRTPContext(receiving: key, ssrc: ssrc, at: index)
        else { return }
        let header = RTPHeader(
            marker: false, payloadType: 0, sequenceNumber: index.sequenceNumber, timestamp: RTPTimestamp(rawValue: 0),
            ssrc: ssrc)
        var packet = [UInt8](capacity: RTPHeader.byteCount + tagByteCount) { packet in
            header.write(into: &packet)
            _ = try? sender.protect(&packet)
        }
        var span = packet.mutableSpan
        _ = try? receiver.unprotect(&span)
    }
}
