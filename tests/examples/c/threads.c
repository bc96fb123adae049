/* A compiled model that shares its work among threads of the caller.
 *
 *     cc threads.c digits.a -lpthread -o threads
 *     ./threads 2 < numbers
 *
 * The library starts no thread. It brings a pool that works with whatever threads it is lent;
 * here they are made by pthread_create. Prints the ten numbers for an image of 64 numbers.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"

enum { ALIGNMENT = 64, MOST = 64 };

static void *allocate(size_t bytes) {
    void *found = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
    if (found == NULL) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return found;
}

static void *work(void *pool) {
    digits_pool_worker(pool);
    return NULL;
}

int main(int count, char **arguments) {
    float image[64], logits[10];
    const gravure_tensor input = {image, NULL, 4, GRAVURE_F32};
    const gravure_tensor output = {logits, NULL, 2, GRAVURE_F32};
    int threads = count > 1 ? atoi(arguments[1]) : 2;
    pthread_t helpers[MOST];

    if (threads < 1 || threads > MOST) {
        fprintf(stderr, "expected 1 to %d threads\n", MOST);
        return 2;
    }
    for (int i = 0; i < 64; i++) {
        if (scanf("%f", &image[i]) != 1) {
            fprintf(stderr, "expected 64 numbers on standard input\n");
            return 2;
        }
    }

    void *pool = allocate((size_t)digits_pool_bytes(threads));
    void *workspace = allocate(digits_workspace_bytes());
    digits_pool_init(pool, threads);
    for (int i = 1; i < threads; i++) {
        pthread_create(&helpers[i], NULL, work, pool);
    }

    gravure_context context = {0};
    context.parallel_for = digits_pool_parallel_for;
    context.scope = digits_pool_scope;
    context.pool = pool;
    context.threads = threads;
    int32_t status = digits_run(&input, &output, workspace, &context);

    digits_pool_stop(pool);
    for (int i = 1; i < threads; i++) {
        pthread_join(helpers[i], NULL);
    }
    for (int i = 0; i < 10; i++) {
        printf("digits %.9g\n", logits[i]);
    }
    if (status != 0) {
        fprintf(stderr, "digits: %s\n", digits_status(status));
    }
    free(workspace);
    free(pool);
    return status != 0;
}
