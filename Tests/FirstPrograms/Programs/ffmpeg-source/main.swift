#if FFmpeg
    import TenfourAudioCore
    import TenfourFFmpegSource
    import TenfourMediaSource

    // ffmpeg-source song.flac
    do throws(ReaderError) {
        let file: any ByteSource
        do { file = try FileByteSource.open(CommandLine.arguments[1]) } catch { throw .demuxer(.byteSource(error)) }
        let reader = try openFFmpegReader(file, format: nil)
        let track = reader.demuxer.track
        print("\(track.codec), \(track.format.rate.hertz) Hz, \(track.format.channelCount) channels")
        if let duration = reader.demuxer.duration { print(duration.isExact ? "exactly" : "about", duration.value) }
        print("begins after a seek at", try reader.seek(to: .milliseconds(500)).value)
    } catch {
        switch error.kind {
        case .libraryMissing: print("FFmpeg is not installed: \(error)")
        case .notAudio: print("this is no audio")
        default: print(error)
        }
    }
#endif
