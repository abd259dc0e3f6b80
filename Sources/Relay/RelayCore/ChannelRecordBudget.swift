internal import TenfourAudioCore
internal import TenfourPacing

/// The budget of a channel for records that tell its members of the channel's state: at most 1000 a second of each kind, of
/// the roster and of the floor.
enum ChannelRecordBudget {
    static let recordsPerSecond = 1_000
    /// The time that each record takes of the budget.
    static let interval = Duration.seconds(1) / recordsPerSecond
    /// Allows a burst, so that what concerns up to 250 members is sent at once.
    static let price = CellRateLimit.Price(perSecond: Double(recordsPerSecond), most: 250)
}
