internal import TenfourAudioCore
internal import TenfourChannelKeys

// MARK: Announcements of epochs
extension Channel {
    mutating func readAnnouncement(_ announcement: Announcement, at now: Instant) -> Reception {
        guard owner == nil else { return .discarded(.unexpected) }
        let origin = EpochOrigin(root: configuration.keys.mediaRoot)
        guard announcement.isAuthentic(under: origin.root) else { return .discarded(.forged) }
        return announced(announcement.content, by: origin, at: now)
    }

    /// Handles an authentic announcement.
    mutating func announced(_ announcement: AnnouncedEpoch, by origin: EpochOrigin, at now: Instant) -> Reception {
        guard !sendStream.hasDrawn(announcement.epoch) else { return .handled }
        guard let clocks = reading(at: now), announcement.isEpochOfItsTime else { return .discarded(.offTime) }
        if announcement.ssrc == ssrc {
            guard clocks.error(of: announcement) <= clocks.maximumError(of: announcement) else {
                return .discarded(.offTime)
            }
            standing.reportCollision(&events, at: now)
            return .handled
        }
        switch opener.announcementArrived(announcement, of: origin, at: clocks) {
        case .discarded(let reason): return .discarded(reason)
        case .older: return .handled
        case .accepted: break
        }
        session?.keepalive.talkContinues(at: now)
        if opened == nil { openReleased() }
        return opened == nil ? .handled : .opened
    }
}
