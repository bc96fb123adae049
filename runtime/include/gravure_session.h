/* gravure_session.h: load compiled models at run time, by path, without Python.
 *
 *     gravure_error error;
 *     gravure_model *model = gravure_model_load("digits.so", NULL, &error);
 *     gravure_session *session = gravure_session_create(model, 2, &error);
 *     const int64_t shape[] = {1, 1, 8, 8};
 *     gravure_session_set_input(session, 0, image, shape, 4, GRAVURE_F32, &error);
 *     if (gravure_session_run(session, &error) != 0) puts(error.message);
 *     const gravure_tensor *logits = gravure_session_output(session, 0);
 *     gravure_session_free(session);
 *     gravure_model_free(model);
 *
 * One source file of the program says `#define GRAVURE_SESSION_IMPLEMENTATION` and includes this
 * before anything else; it is C11 or C++17 for Linux, linked with -ldl and -lpthread where the C library is older
 * than these parts of it. A model is read only and may be used by all threads; each session is one
 * instance with memory and threads of its own, for one run at a time. What fails gives a status
 * that is not 0 (or a null pointer), and says why in the error; nothing ends the program. Errors
 * may be null. Loading a library runs its code: load what you trust. Files that are damaged, cut
 * short, of another format or for another machine are found before that.
 */
#ifndef GRAVURE_SESSION_H
#define GRAVURE_SESSION_H

#if defined(GRAVURE_SESSION_IMPLEMENTATION) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "gravure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a status can be besides those of `gravure_status`. */
enum gravure_session_status {
    GRAVURE_NO_FILE = 128,     /* a file cannot be read */
    GRAVURE_DAMAGED = 129,     /* no library of gravure, or not as it was written */
    GRAVURE_MISMATCH = 130,    /* another format, machine, or weights of another model */
    GRAVURE_NO_MEMORY = 131,
    GRAVURE_BAD_ARGUMENT = 132 /* a number, type or shape that the model does not have */
};

typedef struct {
    int32_t status;
    char message[256];
} gravure_error;

/* An input or output. Sizes that are open are -1; there, `dims` has their name or formula. */
typedef struct {
    const char *name;
    int32_t dtype; /* enum gravure_dtype */
    int32_t rank;
    const int64_t *shape;
    const char *const *dims; /* null for a size that is a number */
} gravure_info;

/* The least and the largest size of an open dimension. */
typedef struct {
    const char *name;
    int64_t low, high;
} gravure_range;

typedef struct gravure_model gravure_model;
typedef struct gravure_session gravure_session;

/* Load a library that `gravure compile` wrote. `weights` is the file of its weights, or null where
 * they are in the library. */
gravure_model *gravure_model_load(const char *path, const char *weights, gravure_error *error);
/* Give a model back. Its code goes when its last session does. */
void gravure_model_free(gravure_model *model);
/* Read all weights, and compare them with the digest that they were written with. */
int32_t gravure_model_check_weights(const gravure_model *model, gravure_error *error);

const char *gravure_model_name(const gravure_model *model);
const char *gravure_model_manifest(const gravure_model *model); /* JSON */
int32_t gravure_model_threads(const gravure_model *model);      /* the most that share a run */
int32_t gravure_model_inputs(const gravure_model *model);       /* how many */
int32_t gravure_model_outputs(const gravure_model *model);
int32_t gravure_model_ranges(const gravure_model *model);
/* By number; null where there is none. They live as long as the model. */
const gravure_info *gravure_model_input(const gravure_model *model, int32_t number);
const gravure_info *gravure_model_output(const gravure_model *model, int32_t number);
const gravure_range *gravure_model_range(const gravure_model *model, int32_t number);
/* The number of a name; -1 where there is none. */
int32_t gravure_model_find_input(const gravure_model *model, const char *name);
int32_t gravure_model_find_output(const gravure_model *model, const char *name);

/* Make an instance whose runs are shared by so many threads (1: by the caller alone). */
gravure_session *gravure_session_create(gravure_model *model, int32_t threads,
                                        gravure_error *error);
void gravure_session_free(gravure_session *session);
/* Say what an input is. The data is not copied: it must be there, aligned to its elements, in each
 * run until another is said. The shape is copied. */
int32_t gravure_session_set_input(gravure_session *session, int32_t number, const void *data,
                                  const int64_t *shape, int32_t rank, int32_t dtype,
                                  gravure_error *error);
/* Compute the outputs; memory for them is taken as they need it, and kept for the next run. */
int32_t gravure_session_run(gravure_session *session, gravure_error *error);
/* An output of the last run that went well, with its shape; null before. It lives until the next
 * run. */
const gravure_tensor *gravure_session_output(const gravure_session *session, int32_t number);

size_t gravure_dtype_bytes(int32_t dtype);         /* of an element; 0 for none */
const char *gravure_dtype_name(int32_t dtype);     /* "f32"; null for none */
size_t gravure_tensor_bytes(const gravure_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif /* GRAVURE_SESSION_H */

#if defined(GRAVURE_SESSION_IMPLEMENTATION) && !defined(GRAVURE_SESSION_IMPLEMENTED)
#define GRAVURE_SESSION_IMPLEMENTED

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GVS_PAGE = 4096, GVS_ALIGNMENT = 64, GVS_FORMAT = 2, GVS_EMBEDDED = 1, GVS_DEEPEST = 64,
    GVS_SEAL = 104, GVS_MOST_RANK = 64
};

typedef int32_t (*gvs_run)(const gravure_tensor *, const gravure_tensor *, void *,
                           const gravure_context *);
typedef int32_t (*gvs_shapes)(const gravure_tensor *, int64_t *const *);
typedef int32_t (*gvs_create)(void *, const gravure_context *, int32_t);

typedef struct gvs_block {
    struct gvs_block *next;
} gvs_block;

struct gravure_model {
    gvs_block *blocks; /* what is given back at the end */
    void *library;
    char *path, *tag, *manifest;
    gravure_info *inputs, *outputs;
    gravure_range *ranges;
    int32_t input_count, output_count, range_count, threads, users;
    uint64_t head_size, weights_size;
    uint8_t digest[32];
    void *mapped; /* the file of weights */
    size_t mapped_size;
    pthread_mutex_t lock;
    gvs_run run;
    gvs_shapes shapes;
    gvs_create create;
    void (*destroy)(void *);
    const char *(*status)(int32_t);
    size_t workspace_bytes;
    int64_t (*pool_bytes)(int32_t);
    void (*pool_init)(void *, int32_t);
    void (*pool_worker)(void *);
    void (*pool_stop)(void *);
    void (*pool_scope)(void *, int32_t);
    gravure_parallel_for pool_for;
};

struct gravure_session {
    gravure_model *model;
    gravure_tensor *inputs, *outputs;
    int64_t **input_shapes, **output_shapes;
    size_t *room; /* bytes that each output has */
    uint8_t *is_set;
    void *workspace, *pool;
    pthread_t *threads;
    int32_t thread_count, is_created, has_run;
    gravure_context context;
};

static const struct {
    const char *name;
    size_t bytes;
} GVS_DTYPES[] = {
    {"bool", 1}, {"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8}, {"u8", 1}, {"u16", 2}, {"u32", 4},
    {"u64", 8}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"c64", 8}, {"c128", 16},
    {"i4", 1}, {"u4", 1}, {"i2", 1}, {"u2", 1}, {"f8e4m3fn", 1}, {"f8e4m3fnuz", 1}, {"f8e5m2", 1},
    {"f8e5m2fnuz", 1}, {"f8e8m0", 1}, {"f6e2m3", 1}, {"f6e3m2", 1}, {"f4e2m1", 1}};
enum { GVS_DTYPE_COUNT = sizeof GVS_DTYPES / sizeof *GVS_DTYPES };

size_t gravure_dtype_bytes(int32_t dtype) {
    return dtype < 0 || dtype >= (int32_t)GVS_DTYPE_COUNT ? 0 : GVS_DTYPES[dtype].bytes;
}

const char *gravure_dtype_name(int32_t dtype) {
    return dtype < 0 || dtype >= (int32_t)GVS_DTYPE_COUNT ? NULL : GVS_DTYPES[dtype].name;
}

size_t gravure_tensor_bytes(const gravure_tensor *tensor) {
    size_t bytes = gravure_dtype_bytes(tensor->dtype);
    for (int32_t axis = 0; axis < tensor->rank; axis++) bytes *= (size_t)tensor->shape[axis];
    return bytes;
}

/* -- errors and memory --------------------------------------------------------------------- */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static int32_t gvs_fail(gravure_error *error, int32_t status, const char *format, ...) {
    if (error != NULL) {
        va_list values;
        va_start(values, format);
        error->status = status;
        vsnprintf(error->message, sizeof error->message, format, values);
        va_end(values);
    }
    return status;
}

static int32_t gvs_fine(gravure_error *error) {
    if (error != NULL) {
        error->status = GRAVURE_OK;
        error->message[0] = 0;
    }
    return GRAVURE_OK;
}

/* Memory with zeros that goes with the model; null where there is none. */
static void *gvs_take(gravure_model *model, size_t count, size_t size) {
    size_t head = (sizeof(gvs_block) + 15) / 16 * 16;
    if (size != 0 && count > (SIZE_MAX - head) / size) return NULL;
    gvs_block *block = (gvs_block *)calloc(1, head + count * size);
    if (block == NULL) return NULL;
    block->next = model->blocks;
    model->blocks = block;
    return (char *)block + head;
}

/* Memory on a line of the cache, at least one line. */
static void *gvs_aligned(size_t bytes) {
    if (bytes > SIZE_MAX - 2 * GVS_ALIGNMENT) return NULL;
    return aligned_alloc(GVS_ALIGNMENT, (bytes / GVS_ALIGNMENT + 1) * GVS_ALIGNMENT);
}

/* -- SHA-256 (FIPS 180-4) ------------------------------------------------------------------ */

typedef struct {
    uint32_t state[8];
    uint64_t length;
    uint8_t part[64];
} gvs_sha;

static uint32_t gvs_turn(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void gvs_sha_block(gvs_sha *sha, const uint8_t *data) {
    static const uint32_t K[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)data[4 * i] << 24 | (uint32_t)data[4 * i + 1] << 16 |
               (uint32_t)data[4 * i + 2] << 8 | data[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = gvs_turn(w[i - 15], 7) ^ gvs_turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = gvs_turn(w[i - 2], 17) ^ gvs_turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, sha->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t one = s[7] + (gvs_turn(e, 6) ^ gvs_turn(e, 11) ^ gvs_turn(e, 25)) +
                       ((e & s[5]) ^ (~e & s[6])) + K[i] + w[i];
        uint32_t two = (gvs_turn(a, 2) ^ gvs_turn(a, 13) ^ gvs_turn(a, 22)) +
                       ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--) s[j] = s[j - 1];
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++) sha->state[i] += s[i];
}

static void gvs_sha_begin(gvs_sha *sha) {
    static const uint32_t FIRST[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, FIRST, sizeof FIRST);
    sha->length = 0;
}

static void gvs_sha_add(gvs_sha *sha, const void *from, size_t size) {
    const uint8_t *data = (const uint8_t *)from;
    while (size > 0) {
        size_t at = sha->length % 64, count = 64 - at < size ? 64 - at : size;
        if (count == 64) {
            gvs_sha_block(sha, data);
        } else {
            memcpy(sha->part + at, data, count);
            if (at + count == 64) gvs_sha_block(sha, sha->part);
        }
        data += count;
        size -= count;
        sha->length += count;
    }
}

static int gvs_sha_is(gvs_sha *sha, const uint8_t *digest) {
    static const uint8_t PAD[64] = {0x80};
    uint64_t bits = sha->length * 8;
    uint8_t tail[8], made[32];
    gvs_sha_add(sha, PAD, (119 - sha->length % 64) % 64 + 1);
    for (int i = 0; i < 8; i++) tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    gvs_sha_add(sha, tail, 8);
    for (int i = 0; i < 32; i++) made[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
    return memcmp(made, digest, 32) == 0;
}

/* -- JSON: the manifest is whole by then, and still read with care ---------------------------- */

static const char *gvs_blank(const char *p) {
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') p++;
    return p;
}

static const char *gvs_skip_string(const char *p) {
    for (p++; *p != '"'; p++) {
        if (*p == '\\') p++;
        if (*p == 0) return NULL;
    }
    return p + 1;
}

/* The end of the value at p; null where there is none. */
static const char *gvs_skip(const char *p, int depth) {
    p = gvs_blank(p);
    if (depth > GVS_DEEPEST) return NULL;
    if (*p == '"') return gvs_skip_string(p);
    if (*p == '{' || *p == '[') {
        char end = *p == '{' ? '}' : ']';
        p = gvs_blank(p + 1);
        if (*p == end) return p + 1;
        for (;;) {
            if (end == '}') {
                if (*p != '"' || (p = gvs_skip_string(p)) == NULL) return NULL;
                p = gvs_blank(p);
                if (*p++ != ':') return NULL;
            }
            if ((p = gvs_skip(p, depth + 1)) == NULL) return NULL;
            p = gvs_blank(p);
            if (*p == end) return p + 1;
            if (*p != ',') return NULL;
            p = gvs_blank(p + 1);
        }
    }
    const char *start = p;
    while (*p != 0 && strchr(",]} \n\t\r", *p) == NULL) p++;
    return p == start ? NULL : p;
}

/* The value of a member of the object at p; null where there is none. */
static const char *gvs_member(const char *p, const char *name) {
    size_t length = strlen(name);
    if (p == NULL || *(p = gvs_blank(p)) != '{') return NULL;
    p = gvs_blank(p + 1);
    while (*p == '"') {
        const char *key = p + 1, *end = gvs_skip_string(p);
        if (end == NULL) return NULL;
        int found = (size_t)(end - 1 - key) == length && memcmp(key, name, length) == 0;
        p = gvs_blank(end);
        if (*p != ':') return NULL;
        p = gvs_blank(p + 1);
        if (found) return p;
        if ((p = gvs_skip(p, 0)) == NULL) return NULL;
        p = gvs_blank(p);
        if (*p != ',') return NULL;
        p = gvs_blank(p + 1);
    }
    return NULL;
}

/* The first element of the array at p, or the one behind the element at p; null at the end. */
static const char *gvs_first(const char *p) {
    if (p == NULL || *(p = gvs_blank(p)) != '[') return NULL;
    p = gvs_blank(p + 1);
    return *p == ']' ? NULL : p;
}

static const char *gvs_next(const char *p) {
    p = gvs_skip(p, 0);
    if (p == NULL || *(p = gvs_blank(p)) != ',') return NULL;
    return gvs_blank(p + 1);
}

static int32_t gvs_count(const char *array) {
    int32_t count = 0;
    for (const char *p = gvs_first(array); p != NULL; p = gvs_next(p)) count++;
    return count;
}

static int gvs_hex(const char *p, uint32_t *value) {
    *value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ?
                    (c | 32) - 'a' + 10 : -1;
        if (digit < 0) return 0;
        *value = *value << 4 | (uint32_t)digit;
    }
    return 1;
}

/* The string at p in UTF-8; null where there is none. */
static char *gvs_string(gravure_model *model, const char *p) {
    const char *end = p != NULL && *p == '"' ? gvs_skip_string(p) : NULL;
    char *made = end == NULL ? NULL : (char *)gvs_take(model, (size_t)(end - p), 1), *to = made;
    if (made == NULL) return NULL;
    for (p++; p < end - 1; p++) {
        static const char FROM[] = "bfnrt", TO[] = "\b\f\n\r\t";
        uint32_t code = 0, low = 0;
        if (*p != '\\') {
            *to++ = *p;
            continue;
        }
        p++;
        if (*p != 'u') {
            const char *found = strchr(FROM, *p);
            *to++ = found != NULL ? TO[found - FROM] : *p;
            continue;
        }
        if (end - p < 6 || !gvs_hex(p + 1, &code)) return NULL;
        p += 4;
        if (code >> 10 == 0x36 && end - p >= 8 && p[1] == '\\' && p[2] == 'u' &&
            gvs_hex(p + 3, &low) && low >> 10 == 0x37) {
            code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
            p += 6;
        }
        int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const uint8_t LEAD[] = {0, 0xc0, 0xe0, 0xf0};
        *to++ = (char)(LEAD[more] | code >> 6 * more);
        while (more-- > 0) *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    }
    return made;
}

/* -- reading a library ---------------------------------------------------------------------- */

static uint64_t gvs_number(const uint8_t *data, int bytes) {
    uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | data[bytes];
    return value;
}

static int gvs_read(int file, uint64_t offset, void *to, uint64_t size) {
    uint8_t *at = (uint8_t *)to;
    while (size > 0) {
        ssize_t count = pread(file, at, size, (off_t)offset);
        if (count <= 0) return 0;
        at += count;
        offset += (uint64_t)count;
        size -= (uint64_t)count;
    }
    return 1;
}

/* The place of the body of the seal in a note of gravure's; 0 where there is none. */
static uint64_t gvs_note(const uint8_t *notes, uint64_t size, uint64_t offset) {
    uint64_t at = 0;
    while (size >= 12 && at <= size - 12) {
        uint64_t owner = gvs_number(notes + at, 4), body = gvs_number(notes + at + 4, 4);
        uint64_t kind = gvs_number(notes + at + 8, 4), start = at + 12 + (owner + 3) / 4 * 4;
        if (owner == 8 && kind == 1 && body >= GVS_SEAL && start + body <= size &&
            memcmp(notes + at + 12, "gravure", 8) == 0)
            return offset + start;
        at = start + (body + 3) / 4 * 4;
    }
    return 0;
}

static int32_t gvs_find_seal(gravure_model *model, int file, const uint8_t *head, uint64_t *seal,
                             gravure_error *error) {
    uint64_t table = gvs_number(head + 32, 8), count = gvs_number(head + 56, 2);
    uint8_t row[56], notes[GVS_PAGE];
    *seal = 0;
    for (uint64_t i = 0; i < count && i < 64 && *seal == 0; i++) {
        if (!gvs_read(file, table + i * sizeof row, row, sizeof row)) break;
        uint64_t offset = gvs_number(row + 8, 8), size = gvs_number(row + 32, 8);
        if (gvs_number(row, 4) == 4 && size <= sizeof notes && gvs_read(file, offset, notes, size))
            *seal = gvs_note(notes, size, offset);
    }
    if (*seal == 0)
        return gvs_fail(error, GRAVURE_DAMAGED, "%s: not a library that gravure made: it has no "
                        "seal", model->path);
    return GRAVURE_OK;
}

static int32_t gvs_check_elf(gravure_model *model, int file, uint8_t *head, gravure_error *error) {
#if defined(__x86_64__)
    const uint64_t machine = 62;
#elif defined(__aarch64__)
    const uint64_t machine = 183;
#elif defined(__riscv)
    const uint64_t machine = 243;
#else
    const uint64_t machine = 0;
#endif
    if (!gvs_read(file, 0, head, 64) || memcmp(head, "\177ELF\2\1", 6) != 0 ||
        gvs_number(head + 16, 2) != 3 || gvs_number(head + 54, 2) != 56)
        return gvs_fail(error, GRAVURE_DAMAGED, "%s: not a compiled model, expected an ELF library "
                        "of 64 bits", model->path);
    if (gvs_number(head + 18, 2) != machine)
        return gvs_fail(error, GRAVURE_MISMATCH, "%s: made for another machine (ELF %d)",
                        model->path, (int)gvs_number(head + 18, 2));
    return GRAVURE_OK;
}

/* Check that a file is whole, and keep its manifest. */
static int32_t gvs_unseal(gravure_model *model, int file, uint64_t size, gravure_error *error) {
    uint8_t head[64], seal[GVS_SEAL], zeros[32] = {0}, digest[32], *data;
    uint64_t place, offset, length;
    gvs_sha sha;
    int32_t status = gvs_check_elf(model, file, head, error);
    if (status == 0) status = gvs_find_seal(model, file, head, &place, error);
    if (status != 0) return status;
    if (!gvs_read(file, place, seal, sizeof seal))
        return gvs_fail(error, GRAVURE_DAMAGED, "%s: the file is damaged", model->path);
    if (gvs_number(seal, 4) != GVS_FORMAT)
        return gvs_fail(error, GRAVURE_MISMATCH, "%s: format %d of artefact, expected %d",
                        model->path, (int)gvs_number(seal, 4), GVS_FORMAT);
    model->head_size = gvs_number(seal + 8, 8);
    model->weights_size = gvs_number(seal + 32, 8);
    offset = gvs_number(seal + 16, 8), length = gvs_number(seal + 24, 8);
    memcpy(model->digest, seal + 40, 32);
    memcpy(digest, seal + 72, 32);
    int embedded = (gvs_number(seal + 4, 4) & GVS_EMBEDDED) != 0;
    uint64_t start = (model->head_size + GVS_PAGE - 1) / GVS_PAGE * GVS_PAGE;
    uint64_t wanted = embedded ? start + model->weights_size : model->head_size;
    if (size != wanted || place + 104 > model->head_size || offset > model->head_size ||
        length > model->head_size - offset)
        return gvs_fail(error, GRAVURE_DAMAGED, "%s: the file is not whole: %llu bytes, expected "
                        "%llu", model->path, (unsigned long long)size, (unsigned long long)wanted);
    data = (uint8_t *)malloc(model->head_size);
    model->manifest = (char *)gvs_take(model, length + 1, 1);
    if (data == NULL || model->manifest == NULL) {
        free(data);
        return gvs_fail(error, GRAVURE_NO_MEMORY, "%s: no memory", model->path);
    }
    int fine = gvs_read(file, 0, data, model->head_size);
    if (fine) {
        gvs_sha_begin(&sha);
        gvs_sha_add(&sha, data, place + 72);
        gvs_sha_add(&sha, zeros, 32);
        gvs_sha_add(&sha, data + place + 104, model->head_size - place - 104);
        memcpy(model->manifest, data + offset, length);
        fine = gvs_sha_is(&sha, digest);
    }
    free(data);
    if (!fine)
        return gvs_fail(error, GRAVURE_DAMAGED, "%s: the file was changed: its digest does not "
                        "match", model->path);
    return GRAVURE_OK;
}

/* -- what the manifest says ------------------------------------------------------------------ */

static int gvs_read_info(gravure_model *model, const char *object, gravure_info *info) {
    const char *shape = gvs_member(object, "shape"), *p;
    char *dtype = gvs_string(model, gvs_member(object, "dtype"));
    int32_t rank = gvs_count(shape), axis = 0;
    int64_t *sizes = (int64_t *)gvs_take(model, (size_t)rank + 1, sizeof *sizes);
    const char **dims = (const char **)gvs_take(model, (size_t)rank + 1, sizeof *dims);
    info->name = gvs_string(model, gvs_member(object, "name"));
    if (dtype == NULL || sizes == NULL || dims == NULL || info->name == NULL) return 0;
    for (info->dtype = 0; info->dtype < (int32_t)GVS_DTYPE_COUNT; info->dtype++)
        if (strcmp(GVS_DTYPES[info->dtype].name, dtype) == 0) break;
    for (p = gvs_first(shape); p != NULL; p = gvs_next(p), axis++) {
        sizes[axis] = *p == '"' ? -1 : strtoll(p, NULL, 10);
        if (*p == '"' && (dims[axis] = gvs_string(model, p)) == NULL) return 0;
    }
    info->rank = rank, info->shape = sizes, info->dims = dims;
    return info->dtype < (int32_t)GVS_DTYPE_COUNT;
}

static gravure_info *gvs_read_infos(gravure_model *model, const char *array, int32_t *count) {
    *count = gvs_count(array);
    gravure_info *made = (gravure_info *)gvs_take(model, (size_t)*count + 1, sizeof *made);
    int32_t number = 0;
    for (const char *p = gvs_first(array); p != NULL && made != NULL; p = gvs_next(p))
        if (!gvs_read_info(model, p, &made[number++])) return NULL;
    return made;
}

static int gvs_read_manifest(gravure_model *model) {
    const char *text = model->manifest, *dims = gvs_member(text, "dims"), *p;
    const char *threads = gvs_member(text, "threads");
    int32_t number = 0;
    model->tag = gvs_string(model, gvs_member(text, "tag"));
    model->inputs = gvs_read_infos(model, gvs_member(text, "inputs"), &model->input_count);
    model->outputs = gvs_read_infos(model, gvs_member(text, "outputs"), &model->output_count);
    model->range_count = gvs_count(dims);
    model->ranges = (gravure_range *)gvs_take(model, (size_t)model->range_count + 1,
                                              sizeof *model->ranges);
    if (threads == NULL || !model->tag || !model->inputs || !model->outputs || !model->ranges)
        return 0;
    model->threads = (int32_t)strtol(threads, NULL, 10);
    for (p = gvs_first(dims); p != NULL; p = gvs_next(p), number++) {
        gravure_range *range = &model->ranges[number];
        const char *low = gvs_member(p, "low"), *high = gvs_member(p, "high");
        range->name = gvs_string(model, gvs_member(p, "name"));
        if (range->name == NULL || low == NULL || high == NULL) return 0;
        range->low = strtoll(low, NULL, 10), range->high = strtoll(high, NULL, 10);
    }
    return 1;
}

/* -- functions of the library ------------------------------------------------------------------ */

/* Write the address of TAG_name to a pointer to a function; say whether there is one. */
static int gvs_find(gravure_model *model, const char *name, void *function) {
    char full[512];
    void *found = NULL;
    if (snprintf(full, sizeof full, "%s_%s", model->tag, name) < (int)sizeof full)
        found = dlsym(model->library, full);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static int32_t gvs_link(gravure_model *model, gravure_error *error) {
    int32_t (*check)(void) = NULL;
    size_t (*bytes)(void) = NULL;
    model->library = dlopen(model->path, RTLD_NOW | RTLD_LOCAL);
    if (model->library == NULL)
        return gvs_fail(error, GRAVURE_MISMATCH, "cannot be loaded: %s", dlerror());
    if (!gvs_find(model, "run", &model->run) || !gvs_find(model, "status", &model->status) ||
        !gvs_find(model, "output_shapes", &model->shapes) || !gvs_find(model, "check_cpu", &check) ||
        !gvs_find(model, "workspace_bytes", &bytes))
        return gvs_fail(error, GRAVURE_MISMATCH, "%s: it has no function %s_run, expected the "
                        "library of one model", model->path, model->tag);
    int32_t status = check();
    if (status != 0)
        return gvs_fail(error, status, "%s: %s", model->path, model->status(status));
    model->workspace_bytes = bytes();
    if (gvs_find(model, "create", &model->create)) gvs_find(model, "destroy", &model->destroy);
    if (!(gvs_find(model, "pool_bytes", &model->pool_bytes) &&
          gvs_find(model, "pool_init", &model->pool_init) &&
          gvs_find(model, "pool_worker", &model->pool_worker) &&
          gvs_find(model, "pool_stop", &model->pool_stop) &&
          gvs_find(model, "pool_scope", &model->pool_scope) &&
          gvs_find(model, "pool_parallel_for", &model->pool_for)))
        model->threads = 1;
    return GRAVURE_OK;
}

/* -- weights ----------------------------------------------------------------------------------- */

static int32_t gvs_map_weights(gravure_model *model, const char *path, gravure_error *error) {
    struct stat about;
    const char *where = gvs_member(model->manifest, "weights");
    int beside = where != NULL && strncmp(where, "\"file\"", 6) == 0;
    if (beside != (path != NULL))
        return gvs_fail(error, GRAVURE_MISMATCH, beside ? "%s: its weights are in a file of their "
                        "own, expected its name" : "%s: no weights of a file belong to it",
                        model->path);
    if (path == NULL) return GRAVURE_OK;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0) {
        if (file >= 0) close(file);
        return gvs_fail(error, GRAVURE_NO_FILE, "%s: cannot be read", path);
    }
    uint8_t head[48];
    int32_t status = GRAVURE_OK;
    if (!gvs_read(file, 0, head, sizeof head) || memcmp(head, "GVWGHT01", 8) != 0)
        status = gvs_fail(error, GRAVURE_DAMAGED, "%s: not a file of weights", path);
    else if (gvs_number(head + 8, 8) != model->weights_size ||
             memcmp(head + 16, model->digest, 32) != 0)
        status = gvs_fail(error, GRAVURE_MISMATCH, "%s: weights of another model", path);
    else if ((uint64_t)about.st_size != GVS_PAGE + model->weights_size)
        status = gvs_fail(error, GRAVURE_DAMAGED, "%s: the weights are not whole: %lld bytes",
                          path, (long long)about.st_size);
    if (status == 0) {
        void *found = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (found == MAP_FAILED)
            status = gvs_fail(error, GRAVURE_NO_MEMORY, "%s: cannot be mapped", path);
        else
            model->mapped = found, model->mapped_size = (size_t)about.st_size;
    }
    close(file);
    return status;
}

int32_t gravure_model_check_weights(const gravure_model *model, gravure_error *error) {
    enum { PIECE = 1 << 16 };
    gvs_sha sha;
    gvs_sha_begin(&sha);
    if (model->mapped != NULL) {
        gvs_sha_add(&sha, (const uint8_t *)model->mapped + GVS_PAGE, model->weights_size);
    } else if (model->weights_size > 0) {
        int file = open(model->path, O_RDONLY | O_CLOEXEC);
        uint8_t *piece = (uint8_t *)malloc(PIECE);
        uint64_t at = (model->head_size + GVS_PAGE - 1) / GVS_PAGE * GVS_PAGE;
        int fine = file >= 0 && piece != NULL;
        for (uint64_t left = model->weights_size; left > 0 && fine;) {
            uint64_t count = left < PIECE ? left : (uint64_t)PIECE;
            fine = gvs_read(file, at, piece, count);
            if (fine) gvs_sha_add(&sha, piece, count);
            at += count, left -= count;
        }
        free(piece);
        if (file >= 0) close(file);
        if (!fine)
            return gvs_fail(error, GRAVURE_NO_FILE, "%s: cannot be read again", model->path);
    } else {
        return gvs_fine(error);
    }
    if (!gvs_sha_is(&sha, model->digest))
        return gvs_fail(error, GRAVURE_DAMAGED, "%s: the weights were changed: their digest does "
                        "not match", model->path);
    return gvs_fine(error);
}

/* -- models -------------------------------------------------------------------------------------- */

static void gvs_end_model(gravure_model *model) {
    if (model->library != NULL) dlclose(model->library);
    if (model->mapped != NULL) munmap(model->mapped, model->mapped_size);
    pthread_mutex_destroy(&model->lock);
    for (gvs_block *block = model->blocks, *next; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    free(model);
}

/* Count a user in (1) or out (-1); the last one out ends the model. */
static void gvs_use(gravure_model *model, int32_t more) {
    pthread_mutex_lock(&model->lock);
    int32_t left = model->users += more;
    pthread_mutex_unlock(&model->lock);
    if (left == 0) gvs_end_model(model);
}

static int32_t gvs_load(gravure_model *model, const char *path, const char *weights,
                        gravure_error *error) {
    struct stat about;
    const char *here = strchr(path, '/') == NULL ? "./" : ""; /* not where libraries are looked for */
    model->path = (char *)gvs_take(model, strlen(here) + strlen(path) + 1, 1);
    if (model->path == NULL) return gvs_fail(error, GRAVURE_NO_MEMORY, "%s: no memory", path);
    strcat(strcpy(model->path, here), path);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        if (file >= 0) close(file);
        return gvs_fail(error, GRAVURE_NO_FILE, "%s: cannot be read", path);
    }
    int32_t status = gvs_unseal(model, file, (uint64_t)about.st_size, error);
    close(file);
    if (status == 0 && !gvs_read_manifest(model))
        status = gvs_fail(error, GRAVURE_DAMAGED, "%s: its manifest is not one of a model", path);
    if (status == 0) status = gvs_map_weights(model, weights, error);
    return status == 0 ? gvs_link(model, error) : status;
}

gravure_model *gravure_model_load(const char *path, const char *weights, gravure_error *error) {
    if (path == NULL) {
        gvs_fail(error, GRAVURE_BAD_ARGUMENT, "there is no path");
        return NULL;
    }
    gravure_model *model = (gravure_model *)calloc(1, sizeof *model);
    if (model == NULL) {
        gvs_fail(error, GRAVURE_NO_MEMORY, "%s: no memory", path);
        return NULL;
    }
    pthread_mutex_init(&model->lock, NULL);
    model->users = 1;
    if (gvs_load(model, path, weights, error) != 0) {
        gvs_end_model(model);
        return NULL;
    }
    gvs_fine(error);
    return model;
}

void gravure_model_free(gravure_model *model) {
    if (model != NULL) gvs_use(model, -1);
}

const char *gravure_model_name(const gravure_model *model) { return model->tag; }
const char *gravure_model_manifest(const gravure_model *model) { return model->manifest; }
int32_t gravure_model_threads(const gravure_model *model) { return model->threads; }
int32_t gravure_model_inputs(const gravure_model *model) { return model->input_count; }
int32_t gravure_model_outputs(const gravure_model *model) { return model->output_count; }
int32_t gravure_model_ranges(const gravure_model *model) { return model->range_count; }

const gravure_info *gravure_model_input(const gravure_model *model, int32_t number) {
    return number < 0 || number >= model->input_count ? NULL : &model->inputs[number];
}

const gravure_info *gravure_model_output(const gravure_model *model, int32_t number) {
    return number < 0 || number >= model->output_count ? NULL : &model->outputs[number];
}

const gravure_range *gravure_model_range(const gravure_model *model, int32_t number) {
    return number < 0 || number >= model->range_count ? NULL : &model->ranges[number];
}

static int32_t gvs_find_name(const gravure_info *infos, int32_t count, const char *name) {
    for (int32_t number = 0; number < count; number++)
        if (strcmp(infos[number].name, name) == 0) return number;
    return -1;
}

int32_t gravure_model_find_input(const gravure_model *model, const char *name) {
    return gvs_find_name(model->inputs, model->input_count, name);
}

int32_t gravure_model_find_output(const gravure_model *model, const char *name) {
    return gvs_find_name(model->outputs, model->output_count, name);
}

/* -- sessions -------------------------------------------------------------------------------------- */

typedef struct {
    void (*worker)(void *);
    void *pool;
} gvs_job;

static void *gvs_work(void *given) {
    gvs_job job = *(gvs_job *)given;
    free(given);
    job.worker(job.pool);
    return NULL;
}

static int32_t gvs_start_pool(gravure_session *session, int32_t threads, gravure_error *error) {
    gravure_model *model = session->model;
    session->pool = gvs_aligned((size_t)model->pool_bytes(threads));
    session->threads = (pthread_t *)calloc((size_t)threads, sizeof *session->threads);
    if (session->pool == NULL || session->threads == NULL)
        return gvs_fail(error, GRAVURE_NO_MEMORY, "%s: no memory for threads", model->path);
    model->pool_init(session->pool, threads);
    for (int32_t i = 1; i < threads; i++) {
        gvs_job *job = (gvs_job *)malloc(sizeof *job);
        if (job != NULL) job->worker = model->pool_worker, job->pool = session->pool;
        if (job == NULL || pthread_create(&session->threads[i], NULL, gvs_work, job) != 0) {
            free(job);
            return gvs_fail(error, GRAVURE_NO_MEMORY, "%s: thread %d of %d cannot be started",
                            model->path, i + 1, threads);
        }
        session->thread_count = i;
    }
    session->context.parallel_for = model->pool_for;
    session->context.scope = model->pool_scope;
    session->context.pool = session->pool;
    return GRAVURE_OK;
}

static void gvs_free_tables(int64_t **tables, int32_t count) {
    for (int32_t i = 0; i < count && tables != NULL; i++) free(tables[i]);
    free(tables);
}

static int64_t **gvs_shape_tables(const gravure_info *infos, int32_t count) {
    int64_t **made = (int64_t **)calloc((size_t)count + 1, sizeof *made);
    for (int32_t i = 0; i < count && made != NULL; i++) {
        made[i] = (int64_t *)calloc((size_t)infos[i].rank + 1, sizeof **made);
        if (made[i] == NULL) {
            gvs_free_tables(made, count);
            return NULL;
        }
    }
    return made;
}

static int32_t gvs_begin(gravure_session *session, int32_t threads, gravure_error *error) {
    gravure_model *model = session->model;
    size_t inputs = (size_t)model->input_count + 1, outputs = (size_t)model->output_count + 1;
    if (threads < 1 || threads > model->threads)
        return gvs_fail(error, GRAVURE_BAD_ARGUMENT, "%s: %d threads, expected 1 to %d",
                        model->path, threads, model->threads);
    session->inputs = (gravure_tensor *)calloc(inputs, sizeof *session->inputs);
    session->outputs = (gravure_tensor *)calloc(outputs, sizeof *session->outputs);
    session->room = (size_t *)calloc(outputs, sizeof *session->room);
    session->is_set = (uint8_t *)calloc(inputs, 1);
    session->input_shapes = gvs_shape_tables(model->inputs, model->input_count);
    session->output_shapes = gvs_shape_tables(model->outputs, model->output_count);
    session->workspace = gvs_aligned(model->workspace_bytes);
    if (!session->inputs || !session->outputs || !session->room || !session->is_set ||
        !session->input_shapes || !session->output_shapes || !session->workspace)
        return gvs_fail(error, GRAVURE_NO_MEMORY, "%s: no memory for a workspace of %llu bytes",
                        model->path, (unsigned long long)model->workspace_bytes);
    session->context.cpu = GRAVURE_CPU_CHECKED;
    session->context.threads = threads;
    if (model->mapped != NULL) session->context.weights = (char *)model->mapped + GVS_PAGE;
    int32_t status = threads > 1 ? gvs_start_pool(session, threads, error) : GRAVURE_OK;
    if (status == 0 && model->create != NULL) {
        status = model->create(session->workspace, &session->context, 0);
        session->is_created = status == 0;
        if (status != 0)
            return gvs_fail(error, status, "%s: %s", model->path, model->status(status));
    }
    return status;
}

gravure_session *gravure_session_create(gravure_model *model, int32_t threads,
                                        gravure_error *error) {
    if (model == NULL) { /* one that could not be loaded */
        gvs_fail(error, GRAVURE_BAD_ARGUMENT, "there is no model");
        return NULL;
    }
    gravure_session *session = (gravure_session *)calloc(1, sizeof *session);
    if (session == NULL) {
        gvs_fail(error, GRAVURE_NO_MEMORY, "%s: no memory", model->path);
        return NULL;
    }
    session->model = model;
    gvs_use(model, 1);
    if (gvs_begin(session, threads, error) != 0) {
        gravure_session_free(session);
        return NULL;
    }
    gvs_fine(error);
    return session;
}

void gravure_session_free(gravure_session *session) {
    if (session == NULL) return;
    gravure_model *model = session->model;
    if (session->is_created && model->destroy != NULL) model->destroy(session->workspace);
    if (session->thread_count > 0) {
        model->pool_stop(session->pool);
        for (int32_t i = 1; i <= session->thread_count; i++)
            pthread_join(session->threads[i], NULL);
    }
    for (int32_t i = 0; i < model->output_count && session->outputs != NULL; i++)
        free(session->outputs[i].data);
    gvs_free_tables(session->input_shapes, model->input_count);
    gvs_free_tables(session->output_shapes, model->output_count);
    free(session->inputs);
    free(session->outputs);
    free(session->room);
    free(session->is_set);
    free(session->workspace);
    free(session->pool);
    free(session->threads);
    free(session);
    gvs_use(model, -1);
}

int32_t gravure_session_set_input(gravure_session *session, int32_t number, const void *data,
                                  const int64_t *shape, int32_t rank, int32_t dtype,
                                  gravure_error *error) {
    if (session == NULL) return gvs_fail(error, GRAVURE_BAD_ARGUMENT, "there is no session");
    const gravure_info *info = gravure_model_input(session->model, number);
    if (info == NULL)
        return gvs_fail(error, GRAVURE_BAD_ARGUMENT, "input %d, expected 0 to %d", number,
                        session->model->input_count - 1);
    if (dtype != info->dtype)
        return gvs_fail(error, GRAVURE_WRONG_DTYPE, "input '%s': element type %s, expected %s",
                        info->name, gravure_dtype_name(dtype) ? gravure_dtype_name(dtype) : "none",
                        gravure_dtype_name(info->dtype));
    if (rank > 0 && shape == NULL)
        return gvs_fail(error, GRAVURE_WRONG_SHAPE, "input '%s': there is no shape", info->name);
    if (rank != info->rank)
        return gvs_fail(error, GRAVURE_WRONG_RANK, "input '%s': rank %d, expected %d", info->name,
                        rank, info->rank);
    for (int32_t axis = 0; axis < rank; axis++)
        if (shape[axis] < 0 || (info->shape[axis] >= 0 && shape[axis] != info->shape[axis]))
            return gvs_fail(error, GRAVURE_WRONG_SHAPE, "input '%s': size %lld along axis %d, "
                            "expected %lld", info->name, (long long)shape[axis], axis,
                            (long long)info->shape[axis]);
    int64_t *kept = session->input_shapes[number];
    if (rank > 0) memcpy(kept, shape, (size_t)rank * sizeof *shape);
    gravure_tensor *input = &session->inputs[number];
    memcpy(&input->data, &data, sizeof data); /* inputs are only read */
    input->shape = kept, input->rank = rank, input->dtype = dtype;
    session->is_set[number] = 1;
    return gvs_fine(error);
}

/* Make room for an output; say whether there is. */
static int gvs_make_room(gravure_session *session, int32_t number) {
    gravure_tensor *output = &session->outputs[number];
    const gravure_info *info = &session->model->outputs[number];
    size_t bytes = gravure_dtype_bytes(info->dtype);
    output->shape = session->output_shapes[number];
    output->rank = info->rank, output->dtype = info->dtype;
    for (int32_t axis = 0; axis < output->rank; axis++) {
        size_t size = (size_t)output->shape[axis];
        if (size != 0 && bytes > SIZE_MAX / size) return 0;
        bytes *= size;
    }
    if (output->data == NULL || bytes > session->room[number]) {
        free(output->data);
        output->data = gvs_aligned(bytes);
        session->room[number] = output->data == NULL ? 0 : bytes;
    }
    return output->data != NULL;
}

int32_t gravure_session_run(gravure_session *session, gravure_error *error) {
    if (session == NULL) return gvs_fail(error, GRAVURE_BAD_ARGUMENT, "there is no session");
    gravure_model *model = session->model;
    session->has_run = 0;
    for (int32_t i = 0; i < model->input_count; i++)
        if (!session->is_set[i])
            return gvs_fail(error, GRAVURE_BAD_ARGUMENT, "input '%s' is not set",
                            model->inputs[i].name);
    int32_t status = model->shapes(session->inputs, session->output_shapes);
    for (int32_t i = 0; i < model->output_count && status == 0; i++)
        if (!gvs_make_room(session, i))
            return gvs_fail(error, GRAVURE_NO_MEMORY, "output '%s': no memory for it",
                            model->outputs[i].name);
    if (status == 0)
        status = model->run(session->inputs, session->outputs, session->workspace,
                            &session->context);
    if (status != 0) return gvs_fail(error, status, "%s", model->status(status));
    session->has_run = 1;
    return gvs_fine(error);
}

const gravure_tensor *gravure_session_output(const gravure_session *session, int32_t number) {
    int fine = session != NULL && session->has_run && number >= 0 && number < session->model->output_count;
    return fine ? &session->outputs[number] : NULL;
}

#ifdef __cplusplus
}
#endif

#endif /* GRAVURE_SESSION_IMPLEMENTATION */
