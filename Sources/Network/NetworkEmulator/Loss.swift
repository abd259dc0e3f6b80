internal import TenfourSeededRandom

/// The model by which a network loses packets. Proportions and probabilities are 0…1.
public enum Loss: Hashable, Sendable {
    case none
    /// Each packet is lost with this probability, independently of other packets (Bernoulli).
    case random(Double)
    /// Packets are lost in bursts: in Gilbert's model, every packet of a bad period is lost. `share` is the proportion
    /// of packets lost; `meanLength`, 1 or more, is the mean number of packets in a burst. At least one packet is
    /// delivered between two bursts. Therefore the bursts are longer than `meanLength` if `share` exceeds `meanLength`
    /// / (`meanLength` + 1): 75 % for bursts of 3.
    case bursts(share: Double, meanLength: Double)
    /// The full model of Gilbert and Elliott. Before each packet, a good period becomes bad with probability `toBad`,
    /// or a bad period becomes good with probability `toGood`. The packet is then lost with the probability of the
    /// present period, `lossInGood` or `lossInBad`.
    case gilbertElliott(toBad: Double, toGood: Double, lossInGood: Double, lossInBad: Double)
}

/// Applies a `Loss` packet by packet. Has its own random number generator, and the state of the model.
struct LossProcess {
    private let toBad, toGood, lossInGood, lossInBad: Double
    private var generator: SeededRandom
    private var isBad: Bool

    init(_ loss: Loss, generator: SeededRandom) {
        (toBad, toGood, lossInGood, lossInBad) = chain(of: loss)
        self.generator = generator
        // Draws the state before the first packet from the long-run distribution of states, so that a short run also
        // loses the right proportion of packets.
        isBad = self.generator.happens(toBad > 0 ? toBad / (toBad + toGood) : 0)
    }

    /// Returns whether the next packet is lost. Draws two random numbers in every model, so that two models can be
    /// compared with one seed.
    mutating func losesNext() -> Bool {
        if generator.happens(isBad ? toGood : toBad) { isBad.toggle() }
        return generator.happens(isBad ? lossInBad : lossInGood)
    }
}

private func chain(of loss: Loss) -> (toBad: Double, toGood: Double, lossInGood: Double, lossInBad: Double) {
    switch loss {
    case .none:
        return (0, 1, 0, 0)
    case .random(let share):
        return (0, 1, share, share)
    case .gilbertElliott(let toBad, let toGood, let lossInGood, let lossInBad):
        return (toBad, toGood, lossInGood, lossInBad)
    case .bursts(let share, let meanLength):
        guard share < 1 else { return (1, 0, 0, 1) }
        let toGood = 1 / max(meanLength, 1)
        let toBad = share * toGood / (1 - share)
        return toBad <= 1 ? (toBad, toGood, 0, 1) : (1, (1 - share) / share, 0, 1)
    }
}
