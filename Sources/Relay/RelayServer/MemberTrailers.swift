internal import TenfourChannelKeys
internal import TenfourUV

/// Writes the trailers of the packets of one sending thread (Protocol/13-members.md).
final class MemberTrailers: TrailerWriter {
    private var table = TrailerTable(.forwarded)
    private var hash = PacketHash(of: Span())

    /// Sets the key of a member that has joined; nil if its packets have no trailers, or if it has left.
    func set(_ key: TrailerKey?, for member: Int) {
        if let key { table.insert(key, at: member) } else { table.remove(member) }
    }

    func begin(_ packet: Span<UInt8>) { hash = PacketHash(of: packet) }

    func write(for member: Int, into trailer: inout OutputSpan<UInt8>) {
        table.write(for: hash, to: member, into: &trailer)
    }

    func sent(to member: Int) { table.used(member) }
}
