internal import TenfourMediaSource
internal import TenfourSystem

// MARK: Chapters
extension Streamer {
    /// The index in `track.chapters` of the chapter that is heard, or that a seek leads to; nil before the first chapter
    /// and in an item without chapters.
    public var chapter: Int? { controller.chapter?.index }

    /// Seeks to the start of the next chapter. In the last chapter, or without chapters, nothing happens.
    public func nextChapter() {
        guard let place = controller.chapter, let next = place.chapters.dropFirst((place.index ?? -1) + 1).first else {
            return
        }
        seek(to: next.start)
    }

    /// Seeks to the start of the present chapter, or to that of the chapter before it within the chapter's first five
    /// seconds. Before the first chapter, or without chapters, nothing happens.
    public func previousChapter() {
        guard let place = controller.chapter, let index = place.index else { return }
        let isAtStart = place.position - place.chapters[index].start < Self.startOfChapter
        seek(to: isAtStart && index > 0 ? place.chapters[index - 1].start : place.chapters[index].start)
    }

    /// The duration in which `previousChapter` leads to the chapter before.
    private static let startOfChapter = Duration.seconds(5)
}

extension PlaybackController {
    /// The chapters of the item that is heard, the position in it and the index of the chapter there; nil without
    /// chapters.
    var chapter: (chapters: [Chapter], position: Duration, index: Int?)? {
        contents.withLock { contents in
            guard let chapters = contents.facts[contents.machine.heardItem]?.track.chapters, !chapters.isEmpty else {
                return nil
            }
            let position = requestedPosition(&contents).value
            return (chapters, position, chapters.index(at: position))
        }
    }
}
