import Engine
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
    private static let maximumLength = 24

    var isEmpty: Bool { endpoints.isEmpty }

    subscript(ssrc: SSRC) -> String { names[ssrc] ?? place(of: ssrc) ?? "station \(ssrc.digits)" }

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
            names[ssrc] = name.count > Self.maximumLength ? name.prefix(Self.maximumLength - 1) + "…" : name
        default: break
        }
    }

    private mutating func forget(_ ssrc: SSRC) {
        names[ssrc] = nil
        endpoints[ssrc] = nil
    }
}
