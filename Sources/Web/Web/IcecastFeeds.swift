internal import TenfourSystem

/// The feeds of a relay's channels. Any thread may call any method, and none of them waits for a server.
public final class IcecastFeeds: Sendable {
    private let feeds = Locked<[String: Entry]>([:])
    private let changed: @Sendable (IcecastStatus) -> Void

    private struct Entry: Sendable {
        var feed: IcecastFeed
        var settings: IcecastSettings
        /// The header pages of the stream that is being fed.
        var header: [UInt8] = []
    }

    /// Creates no feed yet. `changed` is called on a feed's thread whenever its state changes.
    public init(changed: @escaping @Sendable (IcecastStatus) -> Void = { _ in }) { self.changed = changed }

    deinit { stop() }

    /// Feeds the channels in `wanted`, by their names. A feed whose settings are unchanged goes on. Throws if a feed
    /// cannot be started; the others are then started nevertheless.
    public func set(_ wanted: [String: IcecastSettings]) throws(IcecastFeedError) {
        var failure: IcecastFeedError?
        feeds.withLock { feeds in
            for (channel, entry) in feeds where wanted[channel] != entry.settings {
                entry.feed.stop()
                feeds[channel] = nil
            }
            for (channel, settings) in wanted where feeds[channel] == nil {
                do throws(IcecastFeedError) {
                    feeds[channel] = Entry(
                        feed: try IcecastFeed(channel: channel, settings, changed: changed), settings: settings)
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
    }

    /// Passes whole Ogg pages of a channel to its feed, if it has one. `header` are the header pages of their stream.
    public func append(_ pages: [UInt8], header: [UInt8], of channel: String) {
        feeds.withLock { feeds in
            guard let entry = feeds[channel] else { return }
            if entry.header != header {
                entry.feed.begin(header: header)
                feeds[channel]?.header = header
            }
            entry.feed.append(pages)
        }
    }

    /// The states of the feeds, by the channels' names.
    public var statuses: [IcecastStatus] {
        feeds.withLock { $0.values.map(\.feed.status) }.sorted { $0.channel < $1.channel }
    }

    /// Ends all feeds soon.
    public func stop() {
        feeds.withLock { feeds in
            for entry in feeds.values { entry.feed.stop() }
            feeds = [:]
        }
    }
}
