import TenfourAudioCore
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer

/// The chapters of an item, and what describes its pictures, as text for people.
enum ChapterListing {
    /// The number of chapters shown around the one that is heard.
    private static let maximumCount = 20

    /// Returns the title of the chapter that is heard, such as `2/12 The Storm`; nil outside chapters.
    static func title(in streamer: Streamer) -> String? {
        guard let index = streamer.chapter, let chapters = streamer.track?.chapters, chapters.indices.contains(index)
        else { return nil }
        return "\(index + 1)/\(chapters.count)" + (chapters[index].title.map { " \($0)" } ?? "")
    }

    /// Returns one line per chapter, such as `> 2 01:23 The Storm`; of many chapters those around `current`.
    static func lines(_ chapters: [Chapter], current: Int?) -> [String] {
        guard !chapters.isEmpty else { return [] }
        let first = max(0, min((current ?? 0) - maximumCount / 2, chapters.count - maximumCount))
        let range = first..<min(first + maximumCount, chapters.count)
        let width = "\(range.upperBound)".count
        var lines = ["\(chapters.count) \(chapters.count == 1 ? "chapter" : "chapters"):"]
        if range.lowerBound > 0 { lines.append("  \(range.lowerBound) chapters before") }
        lines += range.map { index in
            let number = "\(index + 1)"
            let padding = String(repeating: " ", count: width - number.count)
            let title = chapters[index].title.map { " \($0)" } ?? ""
            let time = PlayStatusLine.clock(chapters[index].start)
            return "\(index == current ? ">" : " ") \(padding)\(number) \(time)\(title)"
        }
        if range.upperBound < chapters.count { lines.append("  \(chapters.count - range.upperBound) chapters after") }
        return lines
    }

    /// Returns what `-v` tells about an item besides its format: its audio tracks if there are several, its pictures, its
    /// chapters and the gain of its tags.
    static func details(of track: Track) -> [String] {
        var lines = track.alternatives.count > 1 ? track.alternatives.map(line(of:)) : []
        lines += track.pictures.map { picture in
            let size = picture.size.map { ", \($0.width)×\($0.height)" } ?? ""
            let kibibytes = max((picture.byteCount + 512) >> 10, 1)
            let type = picture.mediaType.map { ", \($0)" } ?? ""
            return "\(picture.kind?.description ?? "picture")\(type)\(size), \(kibibytes) KiB"
        }
        if !track.chapters.isEmpty {
            lines.append("\(track.chapters.count) \(track.chapters.count == 1 ? "chapter" : "chapters")")
        }
        let gains = [("track", track.gain.trackGain), ("album", track.gain.albumGain)].compactMap { name, gain in
            gain.map { "\(name) gain \($0 > 0 ? "+" : "")\(decimal($0, places: 2)) dB" }
        }
        if !gains.isEmpty { lines.append(gains.joined(separator: ", ")) }
        return lines
    }

    /// Describes an audio track, such as `> track 2: deu, aac, 2 channels, default, Commentary`.
    private static func line(of track: AudioTrack) -> String {
        let count = track.channelCount
        let channels = count > 0 ? "\(count) channel\(count == 1 ? "" : "s")" : nil
        let texts = [track.language, track.codec, channels, track.isDefault ? "default" : nil, track.title]
        return "\(track.isRead ? ">" : " ") track \(track.number): " + texts.compactMap { $0 }.joined(separator: ", ")
    }
}
