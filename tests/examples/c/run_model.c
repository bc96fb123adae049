/* Run a compiled model on files of raw numbers.
 *
 *     cc -DMODEL=digits -include digits.h run_model.c digits.so -o run_digits
 *     ./run_digits f32:1x1x8x8:image.raw -- f32:1x10:logits.raw
 *
 * Each argument is the type of the elements, the shape, and a file: those before `--` are read,
 * those behind it are written. Prints what is wrong, and exits with 1, if anything is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_NAMES(a, b) a##_##b
#define JOIN(a, b) JOIN_NAMES(a, b)
#define FUNCTION(name) JOIN(MODEL, name)

enum { ALIGNMENT = 64, MOST_ARGUMENTS = 128, MOST_DIMS = 8 };

typedef struct {
    const char *file;
    size_t bytes;
    int64_t shape[MOST_DIMS];
} place;

static const struct { const char *name; int32_t code; size_t bytes; } TYPES[] = {
    {"bool", GRAVURE_BOOL, 1}, {"i8", GRAVURE_I8, 1},   {"i16", GRAVURE_I16, 2},
    {"i32", GRAVURE_I32, 4},   {"i64", GRAVURE_I64, 8}, {"u8", GRAVURE_U8, 1},
    {"f16", GRAVURE_F16, 2},   {"f32", GRAVURE_F32, 4}, {"f64", GRAVURE_F64, 8},
};

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* Read `type:shape:file`, and take memory for the numbers. */
static gravure_tensor tensor(char *text, place *where) {
    gravure_tensor made = {NULL, where->shape, 0, -1};
    char *shape = strchr(text, ':'), *file = shape ? strchr(shape + 1, ':') : NULL;
    if (file == NULL) fail(text, "expected type:shape:file");
    *shape++ = '\0';
    *file++ = '\0';
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (strcmp(text, TYPES[i].name) == 0) {
            made.dtype = TYPES[i].code;
            where->bytes = TYPES[i].bytes;
        }
    }
    if (made.dtype < 0) fail(text, "not a type");
    for (char *end = shape; *end != '\0'; shape = end + 1) {
        if (made.rank == MOST_DIMS) fail(file, "too many dimensions");
        int64_t size = strtoll(shape, &end, 10);
        if (end == shape || (*end != 'x' && *end != '\0')) fail(shape, "not a shape");
        where->shape[made.rank++] = size;
        where->bytes *= (size_t)size;
    }
    where->file = file;
    made.data = malloc(where->bytes + 1);
    if (made.data == NULL) fail(file, "no memory");
    return made;
}

static void transfer(const gravure_tensor *tensor, const place *where, int is_input) {
    FILE *file = fopen(where->file, is_input ? "rb" : "wb");
    if (file == NULL) fail(where->file, "cannot be opened");
    size_t done = is_input ? fread(tensor->data, 1, where->bytes, file)
                           : fwrite(tensor->data, 1, where->bytes, file);
    if (done != where->bytes || fclose(file) != 0) fail(where->file, "another size than the shape");
}

int main(int count, char **words) {
    static place places[MOST_ARGUMENTS];
    static gravure_tensor tensors[MOST_ARGUMENTS];
    int all = 0, inputs = -1;

    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--") == 0) {
            inputs = all;
        } else if (all == MOST_ARGUMENTS) {
            fail(words[i], "too many arguments");
        } else {
            tensors[all] = tensor(words[i], &places[all]);
            all++;
        }
    }
    if (inputs < 0) fail(words[0], "expected inputs, --, outputs");
    for (int i = 0; i < inputs; i++) transfer(&tensors[i], &places[i], 1);

    void *workspace = aligned_alloc(ALIGNMENT, FUNCTION(workspace_bytes)() + ALIGNMENT);
    if (workspace == NULL) fail("workspace", "no memory");
    int32_t status = FUNCTION(run)(tensors, tensors + inputs, workspace, NULL);
    if (status != 0) fail("run", FUNCTION(status)(status));

    for (int i = inputs; i < all; i++) transfer(&tensors[i], &places[i], 0);
    for (int i = 0; i < all; i++) free(tensors[i].data);
    free(workspace);
    return 0;
}
