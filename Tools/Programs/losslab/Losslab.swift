import ArgumentParser

/// Speech through a trace and a receiver, on a simulated clock.
@main
struct Losslab: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send speech through a network by seed and hear what a receiver makes of it, faster than real time.",
        subcommands: [Receive.self, Call.self, Cost.self, Packets.self, LossRun.self, Pitch.self],
        defaultSubcommand: Receive.self)
}
