/* Any compiled model, loaded by its path and run on ones, as several instances at once.
 *
 *     cc load_models.c -lpthread -ldl -o load_models
 *     ./load_models THREADS SIZE LIBRARY [WEIGHTS]
 *
 * Open sizes are SIZE. Prints what the model says of itself, and the outputs; or, on the standard
 * error, what is wrong, with the status as exit status.
 */
#define GRAVURE_SESSION_IMPLEMENTATION
#include "gravure_session.h"

enum { INSTANCES = 2, MOST = 8 };

static int fail(const gravure_error *error) {
    fprintf(stderr, "%d %s\n", (int)error->status, error->message);
    return error->status & 255;
}

static void print_info(const char *kind, const gravure_info *info) {
    printf("%s %s %s", kind, info->name, gravure_dtype_name(info->dtype));
    for (int32_t axis = 0; axis < info->rank; axis++) {
        if (info->dims[axis] != NULL) {
            printf(" %s", info->dims[axis]);
        } else {
            printf(" %lld", (long long)info->shape[axis]);
        }
    }
    printf("\n");
}

static void print_tensor(const gravure_tensor *tensor) {
    size_t count = gravure_tensor_bytes(tensor) / gravure_dtype_bytes(tensor->dtype);
    printf("result");
    for (int32_t axis = 0; axis < tensor->rank; axis++) printf(" %lld", (long long)tensor->shape[axis]);
    printf(" :");
    for (size_t i = 0; i < count; i++) {
        if (tensor->dtype == GRAVURE_F32) printf(" %.9g", (double)((float *)tensor->data)[i]);
    }
    printf("\n");
}

static int set_inputs(gravure_model *model, gravure_session *session, int64_t size, void **data,
                      gravure_error *error) {
    for (int32_t i = 0; i < gravure_model_inputs(model); i++) {
        const gravure_info *info = gravure_model_input(model, i);
        int64_t shape[GVS_MOST_RANK];
        size_t count = 1;
        for (int32_t axis = 0; axis < info->rank; axis++) {
            shape[axis] = info->shape[axis] < 0 ? size : info->shape[axis];
            count *= (size_t)shape[axis];
        }
        data[i] = calloc(count + 1, gravure_dtype_bytes(info->dtype));
        for (size_t n = 0; n < count && info->dtype == GRAVURE_F32; n++) ((float *)data[i])[n] = 1;
        if (gravure_session_set_input(session, i, data[i], shape, info->rank, info->dtype, error))
            return error->status;
    }
    return 0;
}

int main(int count, char **arguments) {
    gravure_error error;
    if (count < 4) return 2;
    int64_t size = strtoll(arguments[2], NULL, 10);
    gravure_model *model = gravure_model_load(arguments[3], count > 4 ? arguments[4] : NULL, &error);
    if (model == NULL) return fail(&error);
    if (gravure_model_check_weights(model, &error) != 0) {
        gravure_model_free(model);
        return fail(&error);
    }
    printf("model %s, %d threads\n", gravure_model_name(model), gravure_model_threads(model));
    for (int32_t i = 0; i < gravure_model_inputs(model); i++)
        print_info("input", gravure_model_input(model, i));
    for (int32_t i = 0; i < gravure_model_outputs(model); i++)
        print_info("output", gravure_model_output(model, i));
    for (int32_t i = 0; i < gravure_model_ranges(model); i++)
        printf("range %s %lld %lld\n", gravure_model_range(model, i)->name,
               (long long)gravure_model_range(model, i)->low,
               (long long)gravure_model_range(model, i)->high);

    gravure_session *sessions[INSTANCES] = {NULL};
    void *data[INSTANCES][MOST] = {{NULL}};
    int status = 0;
    for (int n = 0; n < INSTANCES && status == 0; n++) {
        sessions[n] = gravure_session_create(model, (int32_t)atoi(arguments[1]), &error);
        if (sessions[n] == NULL) status = fail(&error);
    }
    gravure_model_free(model); /* the sessions keep it */
    for (int n = 0; n < INSTANCES && status == 0; n++) {
        if (gravure_session_run(sessions[n], &error) == 0) status = 1; /* nothing is set */
        if (set_inputs(model, sessions[n], size, data[n], &error) != 0) status = fail(&error);
        if (status == 0 && gravure_session_run(sessions[n], &error) != 0) status = fail(&error);
    }
    for (int n = 0; n < INSTANCES && status == 0; n++)
        for (int32_t i = 0; i < gravure_model_outputs(model); i++)
            print_tensor(gravure_session_output(sessions[n], i));
    for (int n = 0; n < INSTANCES; n++) {
        gravure_session_free(sessions[n]);
        for (int i = 0; i < MOST; i++) free(data[n][i]);
    }
    return status;
}
