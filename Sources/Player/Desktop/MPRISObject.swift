internal import TenfourDBus
internal import TenfourPlayer

/// The object `/org/mpris/MediaPlayer2`: what its methods and properties mean. Sends nothing and reads no clock.
///
/// The specification is "MPRIS D-Bus Interface Specification" 2.2 (specifications.freedesktop.org).
struct MPRISObject {
    static let path = "/org/mpris/MediaPlayer2"

    /// The answer to a call, and whether the call has moved the position.
    struct Outcome: Equatable {
        var reply: BusReply
        var hasSought = false

        static let done = Outcome(reply: .values([]))

        init(reply: BusReply, hasSought: Bool = false) {
            self.reply = reply
            self.hasSought = hasSought
        }
    }

    enum Interface: String, CaseIterable {
        case root = "org.mpris.MediaPlayer2"
        case player = "org.mpris.MediaPlayer2.Player"
        case properties = "org.freedesktop.DBus.Properties"
        case introspection = "org.freedesktop.DBus.Introspectable"

        /// The methods and the types of their arguments.
        var methods: [String: String] {
            switch self {
            case .root: ["Raise": "", "Quit": ""]
            case .player:
                [
                    "Next": "", "Previous": "", "Pause": "", "PlayPause": "", "Stop": "", "Play": "", "Seek": "x",
                    "SetPosition": "ox", "OpenUri": "s",
                ]
            case .properties: ["Get": "ss", "GetAll": "s", "Set": "ssv"]
            case .introspection: ["Introspect": ""]
            }
        }
    }

    /// Answers a call by another program, and makes `player` perform what it asks for.
    static func answer(_ call: BusCall, by player: some RemotePlayer) -> Outcome {
        if call.member == "Introspect", call.signature.isEmpty, let page = MPRISIntrospection.page(of: call.path) {
            return Outcome(reply: .values([.text(page)]))
        }
        guard call.path == path else { return .error("UnknownObject", "there is no object \(call.path)") }
        let interface: Interface
        if call.interface.isEmpty {
            // D-Bus lets a caller leave the interface out.
            guard let found = Interface.allCases.first(where: { $0.methods[call.member] != nil }) else {
                return .error("UnknownMethod", "there is no such method")
            }
            interface = found
        } else {
            guard let found = Interface(rawValue: call.interface) else {
                return .error("UnknownInterface", "there is no such interface")
            }
            interface = found
        }
        guard let signature = interface.methods[call.member] else {
            return .error("UnknownMethod", "there is no such method")
        }
        guard call.signature == signature, let arguments = call.arguments else {
            return .error("InvalidArgs", "\(call.member) takes arguments of the types '\(signature)'")
        }
        switch interface {
        case .root: return call.member == "Quit" ? perform(.quit, player) : .done
        case .player: return playerCall(call.member, arguments, player)
        case .properties: return propertyCall(call.member, arguments, player)
        case .introspection: return .error("UnknownMethod", "there is no such method")
        }
    }

    private static func playerCall(
        _ member: String, _ arguments: [BusValue], _ player: some RemotePlayer
    ) -> Outcome {
        switch (member, arguments.first, arguments.dropFirst().first) {
        case ("Next", _, _): return player.remoteState.hasNext ? perform(.next, player) : .done
        case ("Previous", _, _): return perform(.previous, player)
        case ("Pause", _, _): return perform(.pause, player)
        case ("PlayPause", _, _): return perform(.playPause, player)
        case ("Stop", _, _): return perform(.stop, player)
        case ("Play", _, _): return perform(.play, player)
        case ("Seek", .int64(let distance), _):
            return seek(by: duration(distance), player)
        case ("SetPosition", .objectPath(let track), .int64(let position)):
            return seek(to: duration(position), track, player)
        case ("OpenUri", .text(let address), _): return perform(.open(address), player)
        default: return .error("InvalidArgs", "\(member) takes other arguments")
        }
    }

    private static func seek(by distance: Duration, _ player: some RemotePlayer) -> Outcome {
        let state = player.remoteState
        guard state.isSeekable else { return .done }
        if let length = state.item?.length, state.position + distance > length {
            return state.hasNext ? perform(.next, player) : .done
        }
        return sought(perform(.seekBy(distance), player))
    }

    /// Ignores a track that is no longer heard, and a position outside the item, as the specification requires.
    private static func seek(to position: Duration, _ track: String, _ player: some RemotePlayer) -> Outcome {
        let state = player.remoteState
        guard let item = state.item, track == MPRISProperties.trackPath(of: item), state.isSeekable,
            position >= .zero, item.length.map({ position <= $0 }) ?? true
        else { return .done }
        return sought(perform(.seekTo(position), player))
    }

    private static func propertyCall(
        _ member: String, _ arguments: [BusValue], _ player: some RemotePlayer
    ) -> Outcome {
        guard case .text(let name)? = arguments.first else { return .error("InvalidArgs", "an interface is missing") }
        let state = player.remoteState
        // Callers of `GetAll` may ask for any interface; one without properties has none.
        guard let properties = MPRISProperties.all(of: name, state) else {
            return .error("UnknownInterface", "there is no such interface")
        }
        if member == "GetAll" { return Outcome(reply: .values([.properties(properties)])) }
        guard case .text(let property)? = arguments.dropFirst().first, let value = properties[property] else {
            return .error("UnknownProperty", "there is no such property")
        }
        if member == "Get" { return Outcome(reply: .values([.variant(value)])) }
        guard case .variant(let new)? = arguments.last else { return .error("InvalidArgs", "a value is missing") }
        guard name == Interface.player.rawValue else { return .error("PropertyReadOnly", "\(property) cannot be set") }
        return set(property, to: new, player)
    }

    private static func set(_ property: String, to value: BusValue, _ player: some RemotePlayer) -> Outcome {
        switch (property, value) {
        case ("Volume", .double(let volume)) where volume.isFinite:
            return perform(.volume(min(max(volume, 0), 1)), player)
        case ("Rate", .double(let rate)) where rate.isFinite:
            // A rate of zero means a pause (the specification of `Rate`).
            if rate <= 0 { return perform(.pause, player) }
            let range = MPRISProperties.rates
            return perform(.rate(min(max(rate, range.lowerBound), range.upperBound)), player)
        case ("LoopStatus", .text("None")): return perform(.repeats(.none), player)
        case ("LoopStatus", .text("Track")): return perform(.repeats(.one), player)
        case ("LoopStatus", .text("Playlist")): return perform(.repeats(.all), player)
        case ("Shuffle", .bool(let isShuffled)): return perform(.shuffle(isShuffled), player)
        case ("Volume", _), ("Rate", _), ("LoopStatus", _), ("Shuffle", _):
            return .error("InvalidArgs", "\(property) cannot have this value")
        default: return .error("PropertyReadOnly", "\(property) cannot be set")
        }
    }

    private static func perform(_ command: RemoteCommand, _ player: some RemotePlayer) -> Outcome {
        player.perform(command).map { .error("Failed", $0) } ?? .done
    }

    private static func sought(_ outcome: Outcome) -> Outcome {
        var outcome = outcome
        if outcome == .done { outcome.hasSought = true }
        return outcome
    }

    /// Returns a number of microseconds as a duration, limited to ±30 years, so that sums of it cannot overflow.
    private static func duration(_ microseconds: Int64) -> Duration {
        .microseconds(min(max(microseconds, -1_000_000_000_000_000), 1_000_000_000_000_000))
    }
}

extension MPRISObject.Outcome {
    /// A standard error of D-Bus.
    fileprivate static func error(_ name: String, _ message: String) -> Self {
        Self(reply: .error(name: "org.freedesktop.DBus.Error." + name, message: message))
    }
}
