package import TenfourChannelKeys
import TenfourPackets
package import TenfourSession

/// A member that sends its information and collects roster updates.
package final class TellingMember {
    package let member: SimulatedMember
    private let name: String?
    private var counter: UInt64 = 0
    package private(set) var entries: [UInt32: SealedMemberInfo?] = [:]
    package private(set) var otherCount = 0
    /// The largest number of entries in one record.
    package private(set) var largest = 0

    package init(_ name: String?, _ keys: ChannelKeys, _ role: Role, at endpoint: Endpoint) {
        self.name = name
        member = SimulatedMember(keys, role, at: endpoint)
    }

    package func enter(_ room: RelayHarness) {
        member.join(room)
        tell(room, member.role == .talk ? .closed : .none)
    }

    package func tell(_ room: RelayHarness, _ microphone: MemberInfo.Microphone) {
        guard let name else {
            member.say(.info(nil), room)
            return
        }
        counter += 1
        let info = MemberInfo(
            name: name, microphone: microphone, ssrc: member.ssrc, joined: 0, microphoneChanged: 0)
        let id = UInt64(truncatingIfNeeded: member.endpoint.hashValue) | 1
        member.say(.info(SealedMemberInfo(info, id: id, counter: counter, under: member.keys.mediaRoot)), room)
    }

    /// Takes all records received and applies the roster updates.
    package func take(_ room: RelayHarness) {
        member.takeReceipt(room)
        for case .roster(let head, let entries) in member.records(room).records {
            otherCount = Int(head.otherCount)
            largest = max(largest, entries.count)
            for entry in entries { apply(entry) }
        }
    }

    private func apply(_ entry: Roster.Entry) {
        switch entry.state {
        case .gone: entries[entry.number] = nil
        case .here(let info): entries[entry.number] = .some(info)
        }
    }

    package func page(
        _ room: RelayHarness, _ part: Roster.Part, from position: UInt32
    ) -> (entries: [SealedMemberInfo], total: UInt32, largest: Int) {
        _ = room.take(member.endpoint)
        room.run(.seconds(3))
        member.renew(room)
        member.say(.rosterRequest(part, position: position, receipt: member.receipt), room)
        var page: (entries: [SealedMemberInfo], total: UInt32, largest: Int) = ([], 0, 0)
        for case .rosterPage(let head, let entries) in member.records(room).records {
            page.total = head.total
            page.largest = max(page.largest, entries.count)
            for case .here(.some(let info)) in entries.map(\.state) { page.entries.append(info) }
        }
        return page
    }

    package var infos: [String: MemberInfo] {
        var infos: [String: MemberInfo] = [:]
        for case .some(let sealed) in entries.values {
            if let info = sealed.opened(under: member.keys.mediaRoot) { infos[info.name] = info }
        }
        return infos
    }

    package var names: Set<String> { Set(infos.keys) }
}
