// Plays an RTP capture through NetEQ, WebRTC's jitter buffer, on a simulated clock: every 10 ms it pulls audio, as a card would.
// Built for Tools/benchmark loss only, against the Debian package libtgowt-dev.
//
//   neteq CAPTURE WAV SECONDS
//
// CAPTURE is the output of `losslab packets`: IPv4 without a link layer, little-endian, RTP of payload type 111 at 48 kHz, whose
// timestamps count from time 0 of the capture. WAV is the audio played from then on, at 48 kHz mono. Prints one line of JSON on
// standard output: delays in milliseconds from a packet's sending to its playout, shares in percent.
// Exit codes: 0; 1 if a file cannot be read or written or NetEQ refuses; 2 for wrong arguments.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "api/audio/audio_frame.h"
#include "api/audio_codecs/audio_decoder_factory_template.h"
#include "api/audio_codecs/opus/audio_decoder_opus.h"
#include "api/neteq/neteq.h"
#include "api/rtp_headers.h"
#include "modules/audio_coding/neteq/default_neteq_factory.h"
#include "rtc_base/logging.h"
#include "system_wrappers/include/clock.h"

namespace {

constexpr int kRate = 48'000;
constexpr int kTickMs = 10;
constexpr int kTick = kRate / 1'000 * kTickMs;
constexpr int kPayloadType = 111;
// The lengths of the global header, a packet's header, the IPv4 and UDP headers, and the RTP header.
constexpr size_t kCaptureHeader = 24, kPacketHeader = 16, kDatagramHeader = 28, kRtpHeader = 12;
// NetEQ's clock starts here, because it treats time 0 as unset.
constexpr int64_t kBeginningMs = 1'000;

struct Packet {
  int64_t arrival_us;
  webrtc::RTPHeader header;
  std::vector<uint8_t> payload;
};

[[noreturn]] void Fail(const std::string& reason) {
  std::fprintf(stderr, "neteq: %s\n", reason.c_str());
  std::exit(1);
}

std::vector<uint8_t> Read(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) Fail(std::string("cannot read ") + path);
  std::vector<uint8_t> bytes;
  uint8_t piece[65'536];
  while (size_t count = std::fread(piece, 1, sizeof piece, file)) bytes.insert(bytes.end(), piece, piece + count);
  std::fclose(file);
  return bytes;
}

uint32_t Little(const uint8_t* bytes) {
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

uint32_t Big(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

std::vector<Packet> Packets(const char* path) {
  const std::vector<uint8_t> bytes = Read(path);
  std::vector<Packet> packets;
  size_t at = kCaptureHeader;
  while (at + kPacketHeader <= bytes.size()) {
    const uint8_t* header = &bytes[at];
    const size_t length = Little(header + 8);
    at += kPacketHeader;
    if (length < kDatagramHeader + kRtpHeader || at + length > bytes.size()) Fail("the capture is broken");
    const uint8_t* rtp = &bytes[at + kDatagramHeader];
    Packet packet;
    packet.arrival_us = int64_t{Little(header)} * 1'000'000 + Little(header + 4);
    packet.header.markerBit = rtp[1] >> 7;
    packet.header.payloadType = rtp[1] & 0x7F;
    packet.header.sequenceNumber = static_cast<uint16_t>(rtp[2] << 8 | rtp[3]);
    packet.header.timestamp = Big(rtp + 4);
    packet.header.ssrc = Big(rtp + 8);
    packet.header.headerLength = kRtpHeader;
    packet.payload.assign(rtp + kRtpHeader, &bytes[at] + length);
    packets.push_back(std::move(packet));
    at += length;
  }
  return packets;
}

void Write(const char* path, const std::vector<int16_t>& samples) {
  std::FILE* file = std::fopen(path, "wb");
  if (!file) Fail(std::string("cannot write ") + path);
  const uint32_t size = static_cast<uint32_t>(samples.size() * 2);
  const auto word = [&](uint32_t value) { std::fwrite(&value, 4, 1, file); };
  std::fwrite("RIFF", 1, 4, file);
  word(36 + size);
  std::fwrite("WAVEfmt ", 1, 8, file);
  word(16);
  word(1 | 1 << 16);
  word(kRate);
  word(kRate * 2);
  word(2 | 16 << 16);
  std::fwrite("data", 1, 4, file);
  word(size);
  const size_t count = std::fwrite(samples.data(), 2, samples.size(), file);
  if (std::fclose(file) || count != samples.size()) Fail(std::string("cannot write ") + path);
}

}  // namespace

int main(int count, char** words) {
  const int seconds = count == 4 ? std::atoi(words[3]) : 0;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: neteq CAPTURE WAV SECONDS\n");
    return 2;
  }
  rtc::LogMessage::LogToDebug(rtc::LS_NONE);
  const std::vector<Packet> packets = Packets(words[1]);
  webrtc::SimulatedClock clock(kBeginningMs * 1'000);
  webrtc::NetEq::Config config;
  config.sample_rate_hz = kRate;
  auto neteq = webrtc::DefaultNetEqFactory().CreateNetEq(
      config, webrtc::CreateAudioDecoderFactory<webrtc::AudioDecoderOpus>(), &clock);
  if (!neteq->RegisterPayloadType(kPayloadType, webrtc::SdpAudioFormat("opus", kRate, 2))) Fail("NetEQ knows no Opus");

  std::vector<int16_t> heard;
  std::vector<double> delays;
  webrtc::AudioFrame frame;
  webrtc::NetEqLifetimeStatistics life;
  webrtc::NetEqOperationsAndState state;
  size_t next = 0;
  for (int64_t now_ms = 0; now_ms < int64_t{seconds} * 1'000; now_ms += kTickMs) {
    while (next < packets.size() && packets[next].arrival_us <= now_ms * 1'000) {
      if (neteq->InsertPacket(packets[next].header, packets[next].payload)) Fail("NetEQ refuses a packet");
      // After the last packet everything is concealed and must not count.
      if (++next == packets.size()) {
        life = neteq->GetLifetimeStatistics();
        state = neteq->GetOperationsAndState();
      }
    }
    bool muted = false;
    if (neteq->GetAudio(&frame, &muted) || frame.sample_rate_hz_ != kRate || frame.num_channels_ != 1) {
      Fail("NetEQ gives no sound");
    }
    heard.insert(heard.end(), frame.data(), frame.data() + kTick);
    const auto last = neteq->GetPlayoutTimestamp();
    const bool sounds = frame.speech_type_ == webrtc::AudioFrame::kNormalSpeech;
    // This timestamp belongs to the end of the 10 ms.
    if (last && sounds && next < packets.size()) {
      delays.push_back(now_ms + kTickMs - static_cast<int32_t>(*last) * 1'000.0 / kRate);
    }
    clock.AdvanceTimeMilliseconds(kTickMs);
  }
  Write(words[2], heard);
  if (delays.empty()) Fail("NetEQ played nothing");

  const double mean = std::accumulate(delays.begin(), delays.end(), 0.0) / delays.size();
  std::sort(delays.begin(), delays.end());
  const double due = packets.size() * 960.0;
  std::printf(
      "{\"receiver\": \"neteq\", \"delay_ms\": %.3f, \"p95_ms\": %.3f, \"concealed_percent\": %.3f, "
      "\"stretched_percent\": %.3f}\n",
      mean, delays[(delays.size() - 1) * 95 / 100], life.concealed_samples * 100.0 / due,
      (state.accelerate_samples + state.preemptive_samples) * 100.0 / due);
}
