/* Train the model of TensorFlow's white paper for ten steps, without Python.
 *
 *     cc white_paper.c paper.o -o white_paper
 *     ./white_paper
 *
 * `paper` are functions over one state, the variables W and b: `paper_train_step` computes the mean
 * of the squares of relu(W x + b), and changes W and b by a step of gradient descent; `paper_infer`
 * gives relu(W x + b), `paper_grad` the gradients. Prints the cost of each step, then how far the
 * state is from one that was saved behind the first step, loaded, and trained in the same way.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "paper.h"

enum { COLUMNS = 100, ROWS = 784, STEPS = 10 };

static paper_state state, other;
static float input[COLUMNS], hidden[ROWS * COLUMNS];
static float weights[ROWS * COLUMNS], bias[COLUMNS];
static _Alignas(64) unsigned char workspace[PAPER_WORKSPACE_BYTES + 1];
static unsigned char saved[PAPER_SAVED_BYTES];
static gravure_context context;

static void check(int32_t status) {
    if (status != 0) {
        fprintf(stderr, "%s\n", paper_status(status));
        exit(1);
    }
}

static float train(paper_state *trained, int step) {
    float cost;
    for (int j = 0; j < COLUMNS; j++) input[j] = (float)(j * (step + 1) % 7 - 3) / 4.0f;
    const gravure_tensor inputs[] = {{input, NULL, 2, GRAVURE_F32}};
    const gravure_tensor outputs[] = {{&cost, NULL, 0, GRAVURE_F32}};
    check(paper_train_step(trained, inputs, outputs, workspace, &context));
    return cost;
}

/* The mean of the squares of what is inferred, and how much the gradients are in all. */
static void look(double *mean, double *slope) {
    const gravure_tensor inputs[] = {{input, NULL, 2, GRAVURE_F32}};
    const gravure_tensor out[] = {{hidden, NULL, 2, GRAVURE_F32}};
    const gravure_tensor gradients[] = {
        {weights, NULL, 2, GRAVURE_F32}, {bias, NULL, 1, GRAVURE_F32}};
    check(paper_infer(&state, inputs, out, workspace, &context));
    check(paper_grad(&state, inputs, gradients, workspace, &context));
    *mean = *slope = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) *mean += hidden[i] * hidden[i] / (ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++) *slope += weights[i] * weights[i];
    *slope = sqrt(*slope);
}

int main(void) {
    double mean, slope, most = 0;
    check(paper_check_cpu());
    context.cpu = GRAVURE_CPU_CHECKED; /* so that no run asks again */
    check(paper_init(&state));
    for (int step = 0; step < STEPS; step++) {
        printf("%d %.6f\n", step, (double)train(&state, step));
        if (step == 0) paper_save(&state, saved);
    }
    look(&mean, &slope);
    printf("inferred %.6f\ngradients %.6f\n", mean, slope);
    check(paper_load(&other, saved, sizeof saved));
    for (int step = 1; step < STEPS; step++) train(&other, step);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        double apart = fabs((double)((float *)state.W)[i] - (double)((float *)other.W)[i]);
        most = apart > most ? apart : most;
    }
    printf("apart %g\n", most);
    saved[20] ^= 1;
    puts(paper_status(paper_load(&other, saved, sizeof saved)));
    puts(paper_status(paper_init((paper_state *)((char *)&other + 4))));
    const gravure_tensor inputs[] = {{input, NULL, 1, GRAVURE_F32}}, outputs[] = {{bias, NULL, 0, 0}};
    puts(paper_status(paper_train_step(&state, inputs, outputs, workspace, &context)));
    return 0;
}
