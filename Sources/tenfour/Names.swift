import Engine
import Keys
import Membership
import RTP

/// What people are shown of those who are heard: the name they gave, or else where they are.
struct Names {
    private var names: [SSRC: String] = [:]
    private var endpoints: [SSRC: Endpoint] = [:]
    /// Who has left, the longest gone first.
    private var gone: [SSRC] = []

    /// Nobody hears more than a few; a flood of numbers is not kept.
    private static let maximumCount = 256
    /// In characters: a status line has to hold several.
    private static let maximumLength = People.nameLength

    var isEmpty: Bool { endpoints.isEmpty }

    subscript(ssrc: SSRC) -> String { names[ssrc] ?? place(of: ssrc) ?? "station \(ssrc.digits)" }

    /// Nil where none was given.
    func name(of ssrc: SSRC) -> String? { names[ssrc] }

    /// Whether sound of theirs has come before.
    func hasHeard(_ ssrc: SSRC) -> Bool { endpoints[ssrc] != nil }

    /// Whether that is no news.
    func isCalled(_ ssrc: SSRC, _ name: String) -> Bool { names[ssrc] == cut(name) }

    /// Behind a relay nobody has a place.
    private func place(of ssrc: SSRC) -> String? {
        endpoints[ssrc].flatMap { $0.address.isUnspecified ? nil : "\($0)" }
    }

    mutating func take(_ event: Event) {
        switch event {
        case .sourceAppeared(let ssrc, let endpoint):
            gone.removeAll { $0 == ssrc }
            if endpoints.count >= Self.maximumCount, !gone.isEmpty { forget(gone.removeFirst()) }
            if endpoints.count < Self.maximumCount { endpoints[ssrc] = endpoint }
        case .sourceLeft(let ssrc, _):
            if endpoints[ssrc] != nil { gone.append(ssrc) }
        case .sourceNamed(let ssrc, let name) where names.count < Self.maximumCount:
            names[ssrc] = cut(name)
        case .reporterAppeared(let ssrc, .some(let name), _) where names.count < Self.maximumCount:
            names[ssrc] = cut(name)
        case .reporterLeft(let ssrc, _): if endpoints[ssrc] == nil { names[ssrc] = nil }
        default: break
        }
    }

    /// Members of a channel, by their sound.
    mutating func take(_ event: ChannelEvent) {
        switch event {
        case .membersKnown(let members): for talker in members.talkers { take(talker) }
        case .memberJoined(let member), .memberChanged(let member): take(member)
        case .memberLeft(let member): if endpoints[member.info.ssrc] == nil { names[member.info.ssrc] = nil }
        default: break
        }
    }

    private mutating func take(_ member: ChannelMember) {
        if let name = member.name, names.count < Self.maximumCount { names[member.info.ssrc] = cut(name) }
    }

    private func cut(_ name: String) -> String {
        name.count > Self.maximumLength ? name.prefix(Self.maximumLength - 1) + "…" : name
    }

    private mutating func forget(_ ssrc: SSRC) {
        names[ssrc] = nil
        endpoints[ssrc] = nil
    }
}
