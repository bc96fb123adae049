/* Two compiled models in one program.
 *
 *     cc two_models.c mlp.a digits.a -o two_models
 *     ./two_models < numbers
 *
 * Reads 8 numbers for `mlp` and 64 for `digits`, prints the 4 and the 10 that come out, one a
 * line. Neither model allocates memory, starts a thread or writes to a global variable: what a
 * run needs beyond its inputs and outputs is the workspace that the caller gives it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"
#include "mlp.h"

enum { ALIGNMENT = 64 };

static void read_numbers(float *values, int count) {
    for (int i = 0; i < count; i++) {
        if (scanf("%f", &values[i]) != 1) {
            fprintf(stderr, "expected 8 + 64 numbers on standard input\n");
            exit(2);
        }
    }
}

static void print_numbers(const char *name, const float *values, int count) {
    for (int i = 0; i < count; i++) {
        printf("%s %.9g\n", name, values[i]);
    }
}

/* One workspace serves both models, as they run one after the other. */
static void *allocate_workspace(void) {
    size_t one = mlp_workspace_bytes(), two = digits_workspace_bytes();
    size_t bytes = one > two ? one : two;
    return aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
}

static void check(const char *what, int32_t status, const char *message) {
    if (status != 0) {
        fprintf(stderr, "%s: %s\n", what, message);
        exit(1);
    }
}

int main(void) {
    float features[8], odds[4], image[64], logits[10];
    const int64_t features_shape[] = {1, 8}, odds_shape[] = {1, 4};
    const int64_t image_shape[] = {1, 1, 8, 8}, logits_shape[] = {1, 10};
    const gravure_tensor features_in = {features, features_shape, 2, GRAVURE_F32};
    const gravure_tensor odds_out = {odds, odds_shape, 2, GRAVURE_F32};
    const gravure_tensor image_in = {image, image_shape, 4, GRAVURE_F32};
    const gravure_tensor logits_out = {logits, logits_shape, 2, GRAVURE_F32};
    void *workspace = allocate_workspace();

    if (workspace == NULL) {
        fprintf(stderr, "no memory for the workspace\n");
        return 1;
    }
    read_numbers(features, 8);
    read_numbers(image, 64);

    /* No context: serial, and the weights are inside the library. */
    int32_t status = mlp_run(&features_in, &odds_out, workspace, NULL);
    check("mlp", status, mlp_status(status));
    status = digits_run(&image_in, &logits_out, workspace, NULL);
    check("digits", status, digits_status(status));
    print_numbers("mlp", odds, 4);
    print_numbers("digits", logits, 10);

    /* A wrong argument is a status, not a crash. */
    const gravure_tensor wrong = {features, features_shape, 3, GRAVURE_F32};
    status = mlp_run(&wrong, &odds_out, workspace, NULL);
    printf("refused %s\n", mlp_status(status));

    free(workspace);
    return 0;
}
