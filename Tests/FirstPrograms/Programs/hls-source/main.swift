import Foundation
import TenfourHLSSource
import TenfourMediaSource

// hls-source stream.m3u8
let path = CommandLine.arguments[1]
let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
switch try HLSPlaylist(parsing: bytes.span, from: Resource(path)) {
case .media(let playlist):
    print(playlist.isEnded ? "on demand" : "live", playlist.duration)
    for segment in playlist.segments {
        print(try playlist.base.resolving(segment.reference), segment.duration)
    }
case .master(let master):
    for reference in master.audioReferences { print(try master.base.resolving(reference)) }
}
