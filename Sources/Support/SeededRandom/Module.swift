// Random numbers that are the same for the same seed, on every machine and in every release. Not for secrets: see
// `CSPRNG`.
