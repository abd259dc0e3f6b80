import TenfourAudioCore
import TenfourMediaSource

/// Feeds the bytes as a metadata block, and as an ICY stream: the first byte is the metadata interval, the second the
/// length of the pieces.
func feedICY(_ bytes: Span<UInt8>) {
    let metadata = ICYMetadata(parsing: bytes)
    for text in [metadata.title, metadata.url] {
        checkShown(text ?? "")
        precondition((text ?? "").unicodeScalars.count <= 1_025)
    }
    guard bytes.count > 2, var demultiplexer = ICYDemultiplexer(interval: Int(bytes[0])) else { return }
    let pieceByteCount = Int(bytes[1]) + 1
    var soundCount = 0
    var blockCount = 0
    var place = 2
    while place < bytes.count {
        let piece = bytes.extracting(place..<min(place + pieceByteCount, bytes.count))
        unsafe piece.withUnsafeBytes { piece in
            unsafe demultiplexer.feed(piece) { sound in
                precondition(unsafe !sound.isEmpty)
                soundCount += sound.count
            } found: { metadata in
                blockCount += 1
                precondition(soundCount == 0 || soundCount % Int(bytes[0]) == 0, "metadata in the midst of sound")
                checkShown(metadata.title ?? "")
            }
        }
        place += piece.count
    }
    precondition(soundCount + blockCount * 17 <= bytes.count - 2, "more came out than went in")
}

/// Feeds the bytes as a playlist from the network and as one from a file.
func feedPlaylist(_ bytes: Span<UInt8>) {
    for resource in [Resource.http(address: "http://host/folder/list?a=b"), .file(path: "/folder/list")] {
        _ = Playlist.isPlaylist(bytes, contentType: nil, from: resource)
        let playlist: Playlist
        do throws(PlaylistError) {
            playlist = try Playlist(parsing: bytes, from: resource)
        } catch {
            checkShown(error.description)
            continue
        }
        precondition((1...Playlist.maximumEntryCount).contains(playlist.entries.count))
        for entry in playlist.entries {
            checkShown(entry.title ?? "")
            checkShown(entry.resource.description)
            switch entry.resource {
            case .http(let address):
                precondition(address.hasPrefix("http://") || address.hasPrefix("https://"))
                precondition(address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !(entry.resource.host ?? "").isEmpty)
                precondition(
                    (try? Resource(address)) == entry.resource, "an address that reads differently the next time")
            case .file(let path):
                precondition(!path.isEmpty && !path.utf8.contains(0))
                guard case .file = resource else { preconditionFailure("the network names a file of this machine") }
            case .standardInput: preconditionFailure("an entry that is the standard input")
            }
        }
    }
}

/// Feeds the bytes as a CUE sheet from the network, from a file and from standard input.
func feedCueSheet(_ bytes: Span<UInt8>) {
    for resource in [Resource.http(address: "http://host/folder/a.cue"), .file(path: "/folder/a.cue"), .standardInput] {
        _ = CueSheet.isCueSheet(bytes, from: resource)
        let sheet: CueSheet
        do throws(CueSheetError) {
            sheet = try CueSheet(parsing: bytes, from: resource)
        } catch {
            checkShown(error.description)
            continue
        }
        precondition((1...CueSheet.maximumTrackCount).contains(sheet.tracks.count))
        checkShown(sheet.title ?? "")
        for track in sheet.tracks {
            checkShown(track.part.title ?? "")
            checkShown(track.part.artist ?? "")
            precondition(track.part.start >= .zero && track.part.start < .seconds(60_000) && track.pregap >= .zero)
            precondition(track.part.end.map { $0 > track.part.start } ?? true, "a track that ends before it begins")
            switch (track.resource, resource) {
            case (.http(let address), .http):
                precondition(address.hasPrefix("http://host/folder/") && isRelative(address.dropFirst(19)))
            case (.file(let path), .file): precondition(path.hasPrefix("/folder/") && isRelative(path.dropFirst(8)))
            case (.file(let path), .standardInput): precondition(isRelative(path[...]))
            default: preconditionFailure("a sheet that leads elsewhere")
            }
        }
    }
}

private func isRelative(_ path: Substring) -> Bool {
    !path.isEmpty && !path.utf8.contains(0)
        && path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty && $0 != ".." }
}
