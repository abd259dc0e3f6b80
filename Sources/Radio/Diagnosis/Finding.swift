/// The result of one check: what was found, and the remedy.
public struct Finding: Hashable, Sendable {
    /// How much a finding matters.
    public enum Severity: String, Hashable, Sendable, Comparable, CaseIterable {
        /// The thing works.
        case well = "ok"
        /// Something that cannot be known, or that a person may want to know.
        case note
        /// Talking works, but worse than it could.
        case limit
        /// Talking does not work.
        case fault

        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    public var severity: Severity
    /// The name of what was found, for scripts; nil if the thing works.
    public var symptom: Symptom?
    /// What was found, as one sentence. Text of a peer or another program in it is safe to display.
    public var text: String
    /// The remedy, as one or two sentences with the command to type; nil if nothing has to be done.
    public var remedy: String?

    static func well(_ text: String) -> Finding { Finding(severity: .well, text: text) }

    static func note(_ symptom: Symptom, _ text: String, _ remedy: String? = nil) -> Finding {
        Finding(severity: .note, symptom: symptom, text: text, remedy: remedy)
    }

    static func limit(_ symptom: Symptom, _ text: String, _ remedy: String) -> Finding {
        Finding(severity: .limit, symptom: symptom, text: text, remedy: remedy)
    }

    static func fault(_ symptom: Symptom, _ text: String, _ remedy: String) -> Finding {
        Finding(severity: .fault, symptom: symptom, text: text, remedy: remedy)
    }
}

/// What can be wrong. The raw value is the name in JSON, which stays the same in later versions.
public enum Symptom: String, Hashable, Sendable, CaseIterable {
    case noCard = "no-card"
    case unknownCard = "unknown-card"
    case busyCard = "card-busy"
    case noRights = "no-rights"
    case otherRate = "other-rate"
    case wrongDirection = "wrong-direction"
    case cardFails = "card-fails"
    case silentMicrophone = "microphone-muted"
    case noSoundServer = "no-sound-server"
    case noALSAPlugin = "no-alsa-plugin"
    case noRealTime = "no-real-time"
    case unsynchronisedClock = "clock-unsynchronised"
    case wrongClock = "clock-wrong"
    case portTaken = "port-taken"
    case portReserved = "port-reserved"
    case noSocket = "no-socket"
    case firewallDrops = "firewall-drops"
    case firewallMayDrop = "firewall-may-drop"
    case firewallUnseen = "firewall-unseen"
    case firewallStopsSending = "firewall-stops-sending"
    case noNetwork = "no-network"
    case twoRoutes = "two-default-routes"
    case smallMTU = "small-mtu"
    case noMulticast = "no-multicast"
    case noAvahi = "no-avahi"
    case stationUnreachable = "station-unreachable"
    case otherVersion = "other-version"
    case unknownName = "name-unknown"
    case noNameServer = "no-name-server"
    case noLocalNames = "no-local-names"
    case noRoute = "no-route"
    case itself
    case refused
    case silent
    case olderStation = "older-station"
    case otherProtocol = "other-protocol"
    case unknownChannel = "channel-unknown"
    case expiredLink = "link-expired"
    case relayRefuses = "relay-refuses"
    case relayUnproved = "relay-unproved"
    case fewFiles = "few-open-files"
    case littleSpace = "little-space"
    case unfinished
}
