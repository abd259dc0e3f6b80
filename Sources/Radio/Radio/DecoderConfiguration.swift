internal import TenfourAudioCore
package import TenfourOpusCodec
package import TenfourPackets

/// Which neural models of libopus decode what is heard, as a person chooses.
public enum DecoderChoice: String, Hashable, Sendable, CaseIterable {
    /// All models that the library has, as far as this machine is fast enough for them.
    case auto
    /// No model: the complexity of the decoder is 0.
    case plain
    /// Deep PLC makes up lost frames: complexity 5.
    case plc
    /// Deep PLC; and decoded speech is enhanced, by NoLACE where its packets carry in-band FEC (complexity 7), otherwise by
    /// LACE (6).
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

/// Which models the decoders of a listener may use. It is settled before the sound starts.
package struct DecoderConfiguration: Hashable, Sendable {
    /// The highest complexity that is used.
    package var complexity: DecoderComplexity
    /// The costs of that complexity, as the trial measured them; zero where no time is measured.
    package var costs: DecoderCosts
    /// How late a pull may be before the card runs dry; nil on a simulated clock, where no time is measured.
    package var slack: Duration?

    /// A complexity is used if one frame takes at most this part of the slack: then a frame that suddenly takes five times as
    /// long still comes in time.
    private static let share = 8

    /// For a simulated clock: what the loaded library has of `choice`.
    package init(_ choice: DecoderChoice = .auto) {
        complexity = choice == .plain ? .plain : min(choice.most, DecoderModels.loaded.complexity)
        costs = DecoderCosts()
    }

    /// For a card: what `trial` found of `choice`, as far as a frame takes at most an eighth of `slack`.
    package init(_ choice: DecoderChoice, _ trial: DecoderTrial, slack: Duration) {
        let limit = slack / Self.share
        let here = min(choice.most, trial.models.complexity)
        let fit = trial.costs.filter { max($0.value.concealed, $0.value.decoded) <= limit && $0.key <= here }
        complexity = fit.keys.max() ?? .plain
        costs = trial.costs[complexity] ?? DecoderCosts()
        self.slack = slack
    }

    /// What senders are told.
    package var concealment: PacketLossConcealment { complexity > .plain ? .deep : .plain }

    /// `decodes with libopus 1.5.2: deep PLC and LACE, 0.41 ms for a lost frame`.
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
    /// In words.
    var models: String {
        switch self {
        case .plain: "plain"
        case .plc: "deep PLC"
        case .lace, .noLACE: "deep PLC and LACE"
        }
    }
}

extension DecoderTrial {
    /// Made for `choice`: nothing is tried where no model is wanted.
    init(of choice: DecoderChoice) throws(RadioError) {
        do { self = try choice == .plain ? .none : Self(measuresCosts: true) } catch { throw RadioError(error) }
    }
}
