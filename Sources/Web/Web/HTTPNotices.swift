internal import TenfourAudioCore
internal import TenfourHTTPServer

/// Tells the operator what the HTTP server refuses, at most once a minute, and of a proxy that no setting names, once.
struct HTTPNotices {
    private var reported: [String: Int] = [:]
    private var next: Instant?
    private var hasToldOfProxy = false

    private static let pause = Duration.seconds(60)

    /// Returns what is to be told now.
    mutating func notices(of status: HTTPServerStatus, at now: Instant) -> [WebNotice] {
        var notices: [WebNotice] = []
        if let proxy = status.ignoredProxy, !hasToldOfProxy {
            hasToldOfProxy = true
            notices.append(.proxyIgnored(proxy))
        }
        if let next, now < next { return notices }
        let refusals = status.counts.compactMap { reason, count in
            let new = count - (reported[reason] ?? 0)
            return new > 0 ? WebNotice.Refusal(reason: reason.replacing("_", with: " "), count: new) : nil
        }
        guard !refusals.isEmpty else { return notices }
        let hosts = HTTPRefusal.hostNotAccepted.rawValue
        let isHost = status.refusals[.hostNotAccepted] ?? 0 > reported[hosts] ?? 0
        reported = Dictionary(status.counts.map { ($0.reason, $0.count) }, uniquingKeysWith: { $1 })
        next = now + Self.pause
        return notices + [.refused(refusals, lastHost: isHost ? status.lastRefusedHost : nil)]
    }
}
