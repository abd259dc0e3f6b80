internal import TenfourAudioCore
package import TenfourOpusCodec
package import TenfourPackets

/// The user's choice of neural models of libopus for the decoder.
public enum DecoderChoice: String, Hashable, Sendable, CaseIterable {
    /// All neural models of the library for which this machine is fast enough.
    case auto
    /// No neural model: decoder complexity 0.
    case plain
    /// Deep PLC conceals lost frames: complexity 5.
    case plc
    /// Deep PLC, and enhancement of decoded speech: by NoLACE (complexity 7) if packets carry in-band FEC, by LACE
    /// (complexity 6) if they do not.
    case full

    init(_ complexity: DecoderComplexity) {
        switch complexity {
        case .plain: self = .plain
        case .plc: self = .plc
        case .lace, .noLACE: self = .full
        }
    }

    var most: DecoderComplexity {
        switch self {
        case .auto, .full: .noLACE
        case .plc: .plc
        case .plain: .plain
        }
    }
}

/// The neural models of libopus (for concealment and enhancement) that the decoders of a mixer may use. The
/// configuration is chosen before audio starts.
package struct DecoderConfiguration: Hashable, Sendable {
    /// The highest decoder complexity that may be used.
    package var complexity: DecoderComplexity
    /// The processor times of decoding with `complexity`, as the trial measured them; zero if no time is measured.
    package var costs: DecoderCosts
    /// The time by which a pull may be late before the card runs dry; nil on a simulated clock, on which no time is
    /// measured.
    package var slack: Duration?

    /// The slack divided by this number is the maximum time of a frame in the trial. A frame that suddenly takes five
    /// times as long is then still in time.
    private static let share = 8

    /// Creates the configuration for a simulated clock: the neural models in `choice` that the loaded library has.
    package init(_ choice: DecoderChoice = .auto) {
        complexity = choice == .plain ? .plain : min(choice.most, DecoderModels.loaded.complexity)
        costs = DecoderCosts()
    }

    /// Creates the configuration for a card: the neural models in `choice` that `trial` found, if a frame takes at most
    /// an eighth of `slack`.
    package init(_ choice: DecoderChoice, _ trial: DecoderTrial, slack: Duration) {
        let limit = slack / Self.share
        let here = min(choice.most, trial.models.complexity)
        let fit = trial.costs.filter { max($0.value.concealed, $0.value.decoded) <= limit && $0.key <= here }
        complexity = fit.keys.max() ?? .plain
        costs = trial.costs[complexity] ?? DecoderCosts()
        self.slack = slack
    }

    /// The concealment that our reports state to senders.
    package var concealment: PacketLossConcealment { complexity > .plain ? .deep : .plain }

    /// One line for the user, such as `decodes with libopus 1.5.2: deep PLC and LACE, 0.41 ms for a lost frame`.
    func summary(_ choice: DecoderChoice, _ trial: DecoderTrial) -> String {
        let wanted = min(choice.most, trial.models.complexity)
        let library = "decodes with \(OpusDecoder.library)"
        guard complexity == .plain else {
            let used = "\(library): \(complexity.models), \(Self.text(costs.concealed)) for a lost frame"
            let lacksLACE = complexity < .lace && wanted > .plc
            return lacksLACE ? "\(used); LACE would be too slow for this card" : used
        }
        guard choice != .plain else { return "\(library): plain, as chosen" }
        guard trial.models.complexity > .plain else { return "\(library): plain; this library has no neural models" }
        let cost = trial.costs[.plc].map { ": \(Self.text($0.concealed)) for a lost frame" } ?? ""
        return "\(library): plain; \(wanted.models) would be too slow for this card\(cost)"
    }

    private static func text(_ duration: Duration) -> String {
        "\(((duration / .milliseconds(1)) * 100).rounded() / 100) ms"
    }
}

extension DecoderComplexity {
    /// The names of the neural models, for messages to the user.
    var models: String {
        switch self {
        case .plain: "plain"
        case .plc: "deep PLC"
        case .lace, .noLACE: "deep PLC and LACE"
        }
    }
}

extension DecoderTrial {
    /// Runs the trial for `choice`. If `choice` contains no neural model, nothing is tried.
    init(of choice: DecoderChoice) throws(RadioError) {
        do { self = try choice == .plain ? .none : Self(measuresCosts: true) } catch { throw RadioError(error) }
    }
}
