internal import TenfourPackets

/// Finds the members that have registered an SSRC. Two members may have the same SSRC in different channels.
struct SSRCRegistry: Sendable {
    private var members: [SSRC: [MemberID]] = [:]

    /// The members with this SSRC; nil if there is none.
    subscript(ssrc: SSRC) -> [MemberID]? { members[ssrc] }

    mutating func insert(_ ssrc: SSRC, of member: MemberID) { members[ssrc, default: []].append(member) }

    mutating func remove(_ ssrc: SSRC, of member: MemberID) {
        members[ssrc]?.removeAll { $0 == member }
        if members[ssrc]?.isEmpty ?? false { members[ssrc] = nil }
    }

    /// Transfers an SSRC from the member `old` to the member `new`.
    mutating func replace(_ old: MemberID, by new: MemberID, of ssrc: SSRC) {
        guard let index = members[ssrc]?.firstIndex(of: old) else { return }
        members[ssrc]?[index] = new
    }
}
