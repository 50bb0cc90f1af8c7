/*
 * The ceiling for reading manifests: libdeflate, a walk over the entries that takes status and file_path only, XXH64 of the
 * path, the fingerprint stored. Knows the schema of the bench's manifests by heart; checks nothing but the sync markers.
 * Prints CPU seconds and the number of entries.
 */
#include <libdeflate.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t P1 = 11400714785074694791ULL, P2 = 14029467366897019727ULL, P3 = 1609587929392839161ULL,
                      P4 = 9650029242287828579ULL, P5 = 2870177450012600261ULL;

static uint64_t rotl(uint64_t x, int r) { return (x << r) | (x >> (64 - r)); }
static uint64_t read64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }
static uint32_t read32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint64_t round64(uint64_t acc, uint64_t input) { return rotl(acc + input * P2, 31) * P1; }
static uint64_t merge(uint64_t acc, uint64_t value) { return (acc ^ round64(0, value)) * P1 + P4; }

static uint64_t xxh64(const uint8_t *p, size_t length, uint64_t seed) {
  const uint8_t *end = p + length;
  uint64_t h;
  if (length >= 32) {
    uint64_t a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
    for (; p + 32 <= end; p += 32) {
      a = round64(a, read64(p));
      b = round64(b, read64(p + 8));
      c = round64(c, read64(p + 16));
      d = round64(d, read64(p + 24));
    }
    h = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18);
    h = merge(merge(merge(merge(h, a), b), c), d);
  } else {
    h = seed + P5;
  }
  h += length;
  for (; p + 8 <= end; p += 8) h = rotl(h ^ round64(0, read64(p)), 27) * P1 + P4;
  if (p + 4 <= end) {
    h = rotl(h ^ (read32(p) * P1), 23) * P2 + P3;
    p += 4;
  }
  for (; p < end; p++) h = rotl(h ^ (*p * P5), 11) * P1;
  h ^= h >> 33;
  h *= P2;
  h ^= h >> 29;
  h *= P3;
  return h ^ (h >> 32);
}

static int64_t varint(const uint8_t **p) {
  uint64_t value = 0;
  int shift = 0;
  uint8_t byte;
  do {
    byte = *(*p)++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static void skip_bytes(const uint8_t **p) { int64_t length = varint(p); *p += length; }
static void skip_optional_long(const uint8_t **p) { if (varint(p) == 1) varint(p); }

/* An optional array of {int key; long or bytes value}. */
static void skip_map(const uint8_t **p, int of_bytes) {
  if (varint(p) == 0) return;
  for (int64_t count = varint(p); count != 0; count = varint(p)) {
    if (count < 0) { count = -count; varint(p); }
    for (; count > 0; count--) {
      varint(p);
      if (of_bytes) skip_bytes(p); else varint(p);
    }
  }
}

static uint64_t *fingerprints;
static size_t fingerprint_count;

static void read_entry(const uint8_t **p) {
  int64_t status = varint(p);
  skip_optional_long(p);
  skip_optional_long(p);
  varint(p);
  int64_t length = varint(p);
  const uint8_t *path = *p;
  *p += length;
  skip_bytes(p);
  varint(p);
  varint(p);
  skip_map(p, 0);
  skip_map(p, 0);
  skip_map(p, 0);
  skip_map(p, 1);
  skip_map(p, 1);
  if (varint(p) == 1) skip_bytes(p);
  if (status != 2) fingerprints[fingerprint_count++] = xxh64(path + 7, (size_t)length - 7, 42);
}

static const uint8_t *skip_header(const uint8_t *p) {
  p += 4;
  for (int64_t count = varint(&p); count != 0; count = varint(&p)) {
    if (count < 0) { count = -count; varint(&p); }
    for (; count > 0; count--) { skip_bytes(&p); skip_bytes(&p); }
  }
  return p;
}

int main(int argc, char **argv) {
  static uint8_t block[1 << 20];
  struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
  fingerprints = malloc(sizeof(uint64_t) * 16000000);
  double seconds = 0;
  size_t entries = 0;
  for (int i = 1; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    if (!file) return 1;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *bytes = malloc((size_t)size);
    if (fread(bytes, 1, (size_t)size, file) != (size_t)size) return 1;
    fclose(file);
    clock_t start = clock();
    const uint8_t *p = skip_header(bytes), *end = bytes + size, *sync = p;
    p += 16;
    while (p < end) {
      int64_t count = varint(&p), length = varint(&p);
      size_t raw;
      if (libdeflate_deflate_decompress(inflater, p, (size_t)length, block, sizeof block, &raw)) return 2;
      p += length;
      if (memcmp(p, sync, 16)) return 3;
      p += 16;
      const uint8_t *at = block;
      for (int64_t left = count; left > 0; left--) read_entry(&at);
      if (at != block + raw) return 4;
      entries += (size_t)count;
    }
    seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    free(bytes);
  }
  printf("%f %zu\n", seconds, entries);
  return 0;
}
