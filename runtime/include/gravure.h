/* gravure.h: how a program calls compiled models.
 *
 * Every model has its own functions, whose names begin with its tag; what is here they share. A
 * model allocates nothing, writes to no global variable and starts no thread: memory and threads
 * are the caller's. (A shared library may lay its weights out when it is loaded, once.) Any number
 * of runs may go on at the same time, each with a workspace of its own. No function sets errno or
 * changes the rounding mode. (A model for GPUs allocates memory there, in TAG_create.)
 */
#ifndef GRAVURE_H
#define GRAVURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. A bool is one byte, 0 or 1; a complex number is its real and imaginary part.
 * Of types of fewer than 8 bits an element takes a byte, whose upper bits are 0. */
enum gravure_dtype {
    GRAVURE_BOOL = 0,
    GRAVURE_I8 = 1,
    GRAVURE_I16 = 2,
    GRAVURE_I32 = 3,
    GRAVURE_I64 = 4,
    GRAVURE_U8 = 5,
    GRAVURE_U16 = 6,
    GRAVURE_U32 = 7,
    GRAVURE_U64 = 8,
    GRAVURE_F16 = 9,
    GRAVURE_BF16 = 10,
    GRAVURE_F32 = 11,
    GRAVURE_F64 = 12,
    GRAVURE_C64 = 13,
    GRAVURE_C128 = 14,
    GRAVURE_I4 = 15,
    GRAVURE_U4 = 16,
    GRAVURE_I2 = 17,
    GRAVURE_U2 = 18,
    GRAVURE_F8E4M3FN = 19,
    GRAVURE_F8E4M3FNUZ = 20,
    GRAVURE_F8E5M2 = 21,
    GRAVURE_F8E5M2FNUZ = 22,
    GRAVURE_F8E8M0 = 23,
    GRAVURE_F6E2M3 = 24,
    GRAVURE_F6E3M2 = 25,
    GRAVURE_F4E2M1 = 26
};

/* The low 8 bits of a status. Above them is the number of the argument that is wrong: inputs,
 * then outputs, then the workspace, then the weights. TAG_status puts it into words. */
enum gravure_status {
    GRAVURE_OK = 0,
    GRAVURE_WRONG_CPU = 1,    /* the processor lacks instructions the model was compiled for */
    GRAVURE_WRONG_DTYPE = 2,
    GRAVURE_WRONG_RANK = 3,
    GRAVURE_WRONG_SHAPE = 4,
    GRAVURE_OUT_OF_RANGE = 5, /* a symbolic dimension is not in its range */
    GRAVURE_BAD_POINTER = 6,  /* null, or not aligned */
    GRAVURE_NO_WEIGHTS = 7,
    GRAVURE_NO_GPU = 8,       /* there is no libcuda.so.1, or it is too old */
    GRAVURE_NOT_CREATED = 9,  /* the workspace of a model for GPUs was not given to TAG_create */
    GRAVURE_CUDA = 10         /* CUDA failed; the number of the argument is CUDA's */
};

/* An array in row-major order without gaps. Data must be aligned to its elements; it may be null
 * if there are no elements. Where all dimensions are fixed, shape may be null. Inputs are only
 * read. No output may overlap an input or another output, but where the header of a model says that
 * it may be given the data of an input. */
typedef struct {
    void *data;
    const int64_t *shape;
    int32_t rank;
    int32_t dtype;
} gravure_tensor;

/* Do a piece of work: the units from begin to end - 1. The slot says nothing to the task. */
typedef void (*gravure_task)(void *context, int64_t begin, int64_t end, int64_t slot);

/* Call the task so that every unit from 0 to count - 1 is done exactly once, and return when all
 * are. Units may be done at the same time and in any order. */
typedef void (*gravure_parallel_for)(void *pool, gravure_task task, void *context, int64_t count);

enum { GRAVURE_CPU_CHECKED = 1 };

/* What a run may use. Fields that are zero have no effect, so begin with `= {0}`. */
typedef struct {
    gravure_parallel_for parallel_for; /* null: all work is done by the calling thread */
    void *pool;                        /* passed on to parallel_for and scope */
    const void *weights;               /* aligned to 64 bytes; null: those in the library */
    void (*scope)(void *pool, int32_t begins); /* called when a run begins (1) and ends (0) */
    int32_t threads; /* how many parts to cut work into; 0: as many as the model allows */
    int32_t cpu;     /* GRAVURE_CPU_CHECKED if TAG_check_cpu() was 0; else each run asks again,
                        which takes microseconds */
} gravure_context;

#ifdef __cplusplus
}
#endif

#endif
