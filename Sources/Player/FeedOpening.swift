internal import Feed
internal import Sound
internal import SoundFile

/// The feeds of this package.
struct FeedOpening: Opening {
    private let settings: DownloadSettings

    init(_ settings: DownloadSettings) { self.settings = settings }

    func begin(_ address: String) throws(StreamError) -> any Downloading {
        throw .unusable("no feed")
    }

    func open(
        _ download: any Downloading, named address: String, as format: LPCMFormat?
    ) throws(ReadError) -> any Reading {
        throw .undecodable("no feed")
    }
}
