/* Train the model of TensorFlow's white paper for ten steps, without Python.
 *
 *     cc white_paper.c paper.o -o white_paper
 *     ./white_paper
 *
 * `paper` is a step of training: relu(W x + b), the mean of its squares, and W and b after one step
 * of gradient descent. The state is here: the step is given W and b, and writes them anew into
 * other memory; the two change places. Prints the cost of each step.
 */
#include <stdio.h>
#include <stdlib.h>

#include "paper.h"

enum { ALIGNMENT = 64, ROWS = 784, COLUMNS = 100, STEPS = 10 };

static float *numbers(size_t count) {
    float *made = aligned_alloc(ALIGNMENT, (count * sizeof *made / ALIGNMENT + 1) * ALIGNMENT);
    if (made == NULL) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return made;
}

int main(void) {
    float *weights[2] = {numbers(ROWS * COLUMNS), numbers(ROWS * COLUMNS)};
    float *bias[2] = {numbers(COLUMNS), numbers(COLUMNS)};
    float *input = numbers(COLUMNS), cost;
    void *workspace = numbers(paper_workspace_bytes() / sizeof(float) + 1);
    unsigned long state = 12345;

    for (int i = 0; i < ROWS * COLUMNS; i++) {
        state = (1103515245UL * state + 12345UL) & 0x7fffffffUL;
        weights[0][i] = (float)((double)state / 1073741824.0 - 1.0);
    }
    for (int i = 0; i < COLUMNS; i++) bias[0][i] = 0.0f;

    for (int step = 0; step < STEPS; step++) {
        int now = step % 2, next = 1 - now;
        for (int j = 0; j < COLUMNS; j++) input[j] = (float)(j * (step + 1) % 7 - 3) / 4.0f;
        const gravure_tensor inputs[] = {
            {input, NULL, 2, GRAVURE_F32},
            {weights[now], NULL, 2, GRAVURE_F32},
            {bias[now], NULL, 1, GRAVURE_F32},
        };
        const gravure_tensor outputs[] = {
            {&cost, NULL, 0, GRAVURE_F32},
            {weights[next], NULL, 2, GRAVURE_F32},
            {bias[next], NULL, 1, GRAVURE_F32},
        };
        int status = paper_run(inputs, outputs, workspace, NULL);
        if (status != 0) {
            fprintf(stderr, "step %d: %s\n", step, paper_status(status));
            return 1;
        }
        printf("%d %.6f\n", step, (double)cost);
    }
    for (int i = 0; i < 2; i++) free(weights[i]), free(bias[i]);
    free(input);
    free(workspace);
    return 0;
}
