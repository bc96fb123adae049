"""TensorFlow's namespaces: `tf.math`, `tf.nn`, `tf.train` and so on."""

from __future__ import annotations

from types import SimpleNamespace

from ...function.function import Settings as _Settings
from ...function.function import run_functions_eagerly
from ...models import threads as _th
from ..core import nested as _nest
from ..core.space import Space
from ..distribute import cluster as _cl
from ..distribute import connecting as _connecting
from ..distribute import names as _di
from ..distribute import server as _sv
from ..draws import candidates as _ca
from ..draws import generator as _gen
from ..draws import ops as _dr
from ..draws.bounded import stateless_parameterized_truncated_normal as _bounded
from ..draws.fractional import SECOND as _FRACTIONAL
from ..draws.index_shuffle import index_shuffle as _index_shuffle
from ..draws.sobol import sobol_sample as _sobol_sample
from ..graph import configuration as _cf
from ..graph import debugging as _dbg
from ..graph.queues import (
    FIFOQueue,
    PaddingFIFOQueue,
    PriorityQueue,
    QueueBase,
    RandomShuffleQueue,
)
from ..image.names import NAMES as _IMAGE
from ..io.names import CHANGED as _CHANGED
from ..io.names import MESSAGES as _MESSAGES
from ..io.names import PICTURES as _PICTURES
from ..io.names import PRODUCERS as _PRODUCERS
from ..linalg.names import NAMES as _LINALG
from ..linalg.running_logs import cumulative_logsumexp as _cumulative_logsumexp
from ..monitored import loaded_graphs as _lg
from ..monitored.names import MEMBERS as _MONITORED
from ..nondense import embeddings as _em
from ..nondense.ctc_decoding import V2 as _CTC
from ..ops import cepstra as _ce
from ..ops import composed as _co
from ..ops import creation as _c
from ..ops import gathering as _g
from ..ops import initial_values as _i
from ..ops import linear_ops as _la
from ..ops import math_ops as _m
from ..ops import nn_ops as _n
from ..ops import older as _ol
from ..ops import random_ops as _r
from ..ops import signal_ops as _si
from ..ops import sorting as _s
from ..ops import special as _sp
from ..ops import window_ops as _w
from ..ops.indexed_slices import scalar_mul
from ..program import profiler as _pr
from ..runs.seeds import set_seed
from ..special import bessel as _be
from ..special import gamma as _ga
from ..special import integrals as _int
from ..special import inverse_erf as _inv
from ..special import waves as _wa
from ..special.beta import betainc as _betainc
from ..special.isotonic import isotonic_regression as _isotonic_regression
from ..text.names import strings as _strings
from ..train import averages as _av
from ..train import checkpoint_state as _cs
from ..train import checkpoints as _ck
from ..train import coordinator as _cd
from ..train import first_optimisers as _fo
from ..train import loss_ops as _l
from ..train import meta_graph as _mg
from ..train import optimiser as _op
from ..train import optimiser_ops as _o
from ..train import rates as _ra
from ..train import savers as _t
from ..train import starting as _ss
from ..train.checkpoint_state import LoadOptions as _LoadOptions
from ..train.checkpoint_state import SaveOptions as _SaveOptions
from ..train.saved_model import save as _save
from ..variables.assets import Asset as _Asset
from . import first_operands as _fp
from .first_calls import as_called as _as_called
from .first_calls import table as _first_calls
from .raw_layers import SECOND as _WAYS_BACK
from .trivia import SAVED as _SAVED
from .trivia import optimizer as _optimizer

_BESSEL = ("bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e")
math = Space(
    "math",
    **{**_m.FUNCTIONS, "add": _fp.add, "truediv": _fp.truediv},
    **_m.REDUCTIONS,
    **{
        n: getattr(_m, n)
        for n in (
            *("square", "squared_difference", "add_n", "argmax", "argmin", "cumsum"),
            *("cumprod", "reduce_mean", "reduce_variance", "reduce_std", "real", "imag", "conj"),
            *("reduce_euclidean_norm", "truncatemod"),
        )
    },
    **{n: getattr(_s, n) for n in ("top_k", "bincount", "count_nonzero", "invert_permutation")},
    **{n: getattr(_s, n) for n in ("approx_max_k", "approx_min_k")},
    **{
        n: getattr(_g, n)
        for n in (
            *("segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod"),
            *("unsorted_segment_sum", "unsorted_segment_mean", "unsorted_segment_max"),
            *("unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sqrt_n"),
        )
    },
    **{
        n: getattr(_sp, n)
        for n in (
            *("lgamma", "digamma", "erfc", "log_sigmoid", "divide_no_nan", "xlogy", "xlog1py"),
            *("multiply_no_nan", "xdivy", "reciprocal_no_nan", "lbeta", "softsign", "zeta"),
            "polygamma",
        )
    },
    **{n: getattr(_inv, n) for n in ("erfinv", "erfcinv", "ndtri")},
    **{
        n: getattr(_co, n)
        for n in (
            *("accumulate_n", "angle", "polyval", "nextafter"),
            *("is_strictly_increasing", "is_non_decreasing", "confusion_matrix"),
        )
    },
    **{n: getattr(_be, n) for n in _BESSEL},
    betainc=_betainc,
    cumulative_logsumexp=_cumulative_logsumexp,
    igamma=_ga.igamma,
    igammac=_ga.igammac,
    sobol_sample=_sobol_sample,
    special=Space(
        "math.special",
        **{f"bessel_{n}": getattr(_be, f"bessel_{n}") for n in ("k0", "k0e", "k1", "k1e")},
        **{n: getattr(_be, n) for n in _BESSEL},
        **{
            n: getattr(_int, n) for n in ("dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence")
        },
        **{f"bessel_{n}": getattr(_wa, f"bessel_{n}") for n in ("j0", "j1", "y0", "y1")},
    ),
    divide=_m.truediv,
    scalar_mul=scalar_mul,
    mod=_m.FUNCTIONS["floormod"],
    rint=_m.FUNCTIONS["round"],
    in_top_k=lambda targets, predictions, k, name=None: _w.in_top_k(targets, predictions, k=k),
    l2_normalize=_w.l2_normalize,
    log_softmax=_n.log_softmax,
    softmax=_n.softmax,
    zero_fraction=_n.zero_fraction,
)
nn = Space(
    "nn",
    embedding_lookup_sparse=_em.embedding_lookup_sparse,
    safe_embedding_lookup_sparse=_em.safe_embedding_lookup_sparse,
    **{
        n: getattr(_n, n)
        for n in (
            *("relu", "relu6", "elu", "selu", "swish", "leaky_relu", "gelu", "softmax"),
            *("log_softmax", "softmax_cross_entropy_with_logits", "bias_add", "l2_loss"),
            *("sparse_softmax_cross_entropy_with_logits", "sigmoid_cross_entropy_with_logits"),
            *("moments", "zero_fraction", "crelu"),
        )
    },
    **{
        n: getattr(_w, n)
        for n in (
            *("conv1d", "conv2d", "conv2d_transpose", "depthwise_conv2d", "max_pool2d"),
            *("avg_pool2d", "batch_normalization", "l2_normalize"),
            *("local_response_normalization", "embedding_lookup", "max_pool1d", "avg_pool1d"),
            *("max_pool", "avg_pool", "max_pool3d", "avg_pool3d", "conv3d"),
            *("separable_conv2d", "atrous_conv2d", "space_to_depth", "depth_to_space"),
            *("conv1d_transpose", "conv3d_transpose", "convolution", "conv_transpose", "pool"),
        )
    },
    **{n: getattr(_ca, n) for n in ("compute_accidental_hits", "nce_loss", "sampled_softmax_loss")},
    **{n: getattr(_ca, n) for n in _ca.SAMPLERS if "uniform" not in n},
    **{
        n: getattr(_ol, n)
        for n in (
            *("dilation2d", "erosion2d", "log_poisson_loss", "max_pool_with_argmax"),
            *("with_space_to_batch", "batch_norm_with_global_normalization"),
        )
    },
    weighted_moments=_n.weighted_moments,
    sufficient_statistics=_n.sufficient_statistics,
    normalize_moments=_n.normalize_moments,
    lrn=_w.local_response_normalization,
    sigmoid=_m.FUNCTIONS["sigmoid"],
    tanh=_m.FUNCTIONS["tanh"],
    softplus=_m.FUNCTIONS["softplus"],
    softsign=_sp.softsign,
    silu=_n.swish,
    top_k=_s.top_k,
    approx_max_k=_s.approx_max_k,
    approx_min_k=_s.approx_min_k,
    in_top_k=_w.in_top_k,
    isotonic_regression=_isotonic_regression,
    **_CTC,
    **_WAYS_BACK,
    **_FRACTIONAL,
    compute_average_loss=_l.compute_average_loss,
    scale_regularization_loss=_l.scale_regularization_loss,
    space_to_batch=_co.space_to_batch,
    weighted_cross_entropy_with_logits=_sp.weighted_cross_entropy_with_logits,
    dropout=_n.dropout,
    experimental=Space(
        "nn.experimental",
        general_dropout=_n.general_dropout,
        stateless_dropout=_n.stateless_dropout,
    ),
)
bitwise = Space(
    "bitwise",
    invert=_m.FUNCTIONS["invert"],
    **{
        n: _m.FUNCTIONS[n]
        for n in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
    },
)
linalg = Space(
    "linalg",
    **{
        n: getattr(_la, n)
        for n in (
            *("inv", "det", "cholesky", "solve", "triangular_solve", "logdet", "tensor_diag"),
            *("tensor_diag_part", "adjoint", "cross", "cholesky_solve"),
        )
    },
    **{
        n: _as_called(f"linalg.{n}", getattr(_la, n), _first_calls()[f"linalg.{n}"])
        for n in ("diag", "diag_part", "matrix_transpose", "set_diag")  # their names came first
    },
    **_LINALG,
    band_part=_n.band_part,
    matmul=_m.matmul,
    eye=_c.eye,
    einsum=_n.einsum,
    trace=_la.trace,
    matvec=_la.matvec,
    tensordot=_w.tensordot,
    norm=_w.norm,
    global_norm=_n.global_norm,
    l2_normalize=_as_called(
        "linalg.l2_normalize", _w.l2_normalize, _first_calls()["nn.l2_normalize"]
    ),
)
image = Space("image", **_IMAGE, **_PICTURES, **_CHANGED)
strings = _strings
signal = Space(
    "signal",
    **{
        n: getattr(_si, n)
        for n in (
            *("fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d", "rfft", "irfft", "rfft2d"),
            *("rfft3d", "irfft3d", "kaiser_window", "kaiser_bessel_derived_window"),
            *("irfft2d", "fftshift", "ifftshift", "hann_window", "hamming_window", "frame"),
            *("overlap_and_add", "stft", "dct", "idct"),
        )
    },
    **{
        n: getattr(_ce, n)
        for n in (
            *("linear_to_mel_weight_matrix", "mfccs_from_log_mel_spectrograms", "inverse_stft"),
            *("inverse_stft_window_fn", "mdct", "inverse_mdct", "vorbis_window"),
        )
    },
)
random = Space(
    "random",
    split=_r.split,
    fold_in=_r.fold_in,
    stateless_categorical=_r.stateless_categorical,
    experimental=Space(
        "random.experimental",
        index_shuffle=_index_shuffle,
        stateless_split=_r.split,
        stateless_fold_in=_r.fold_in,
        stateless_shuffle=_dr.stateless_shuffle,
        Generator=_gen.Generator,
        Algorithm=_gen.Algorithm,
        create_rng_state=_gen.create_rng_state,
        get_global_generator=_gen.get_global_generator,
        set_global_generator=_gen.set_global_generator,
    ),
    **{
        n: getattr(_dr, n)
        for n in (
            *("gamma", "poisson", "shuffle", "stateless_gamma"),
            *("stateless_binomial", "stateless_poisson"),
        )
    },
    Algorithm=_gen.Algorithm,
    create_rng_state=_gen.create_rng_state,
    **{n: getattr(_ca, n) for n in _ca.SAMPLERS},
    uniform=_r.uniform,
    normal=_r.normal,
    truncated_normal=_r.truncated_normal,
    set_seed=set_seed,
    stateless_uniform=_r.stateless_uniform,
    stateless_normal=_r.stateless_normal,
    stateless_truncated_normal=_r.stateless_truncated_normal,
    stateless_parameterized_truncated_normal=_bounded,
    categorical=_r.categorical,
    Generator=_gen.Generator,
    get_global_generator=_gen.get_global_generator,
    set_global_generator=_gen.set_global_generator,
)
nest = Space(
    "nest",
    flatten=_nest.flatten,
    map_structure=_nest.map_structure,
    pack_sequence_as=_nest.pack_sequence_as,
    is_nested=_nest.is_nested,
    assert_same_structure=_nest.assert_same_structure,
)
config = Space(
    "config",
    run_functions_eagerly=run_functions_eagerly,
    functions_run_eagerly=lambda: _Settings.run_eagerly,
    optimizer=_optimizer,
    set_soft_device_placement=_cf.set_soft_device_placement,
    get_soft_device_placement=_cf.get_soft_device_placement,
    list_physical_devices=_cf.list_physical_devices,
    list_logical_devices=_cf.list_logical_devices,
    experimental_connect_to_cluster=_connecting.connect_to_cluster,
    experimental_connect_to_host=_connecting.connect_to_host,
    get_visible_devices=_cf.list_physical_devices,
    set_logical_device_configuration=_cf.set_logical_device_configuration,
    get_logical_device_configuration=_cf.get_logical_device_configuration,
    LogicalDeviceConfiguration=_cf.LogicalDeviceConfiguration,
    LogicalDevice=_cf.LogicalDevice,
    PhysicalDevice=_cf.PhysicalDevice,
    set_visible_devices=_cf.set_visible_devices,
    experimental_run_functions_eagerly=run_functions_eagerly,
    experimental_functions_run_eagerly=lambda: _Settings.run_eagerly,
    experimental=Space(
        "config.experimental",
        **{
            n: getattr(_cf, n)
            for n in (
                *("enable_op_determinism", "enable_tensor_float_32_execution"),
                *("get_device_details", "get_memory_growth", "get_memory_info"),
                *("get_memory_usage", "reset_memory_stats"),
                *("set_memory_growth", "set_synchronous_execution", "set_visible_devices"),
                "tensor_float_32_execution_enabled",
            )
        },
        get_visible_devices=_cf.list_physical_devices,
        get_synchronous_execution=lambda: True,
        list_physical_devices=_cf.list_physical_devices,
        list_logical_devices=_cf.list_logical_devices,
        set_virtual_device_configuration=_cf.set_logical_device_configuration,
        get_virtual_device_configuration=_cf.get_logical_device_configuration,
        VirtualDeviceConfiguration=_cf.LogicalDeviceConfiguration,
    ),
    threading=SimpleNamespace(
        set_intra_op_parallelism_threads=_th.ask,
        get_intra_op_parallelism_threads=lambda: _th.Asked.count,
        set_inter_op_parallelism_threads=_th.ask_beside,
        get_inter_op_parallelism_threads=lambda: _th.Asked.beside,
    ),
)


zeros_initializer, ones_initializer = _i.Zeros, _i.Ones
constant_initializer = _i.Constant
random_uniform_initializer, random_normal_initializer = _i.RandomUniform, _i.RandomNormal
queue = Space(
    "queue",
    FIFOQueue=FIFOQueue,
    PaddingFIFOQueue=PaddingFIFOQueue,
    PriorityQueue=PriorityQueue,
    QueueBase=QueueBase,
    RandomShuffleQueue=RandomShuffleQueue,
)
debugging = Space(
    "debugging",
    **{
        name: getattr(_dbg, name)
        for name in (
            *("Assert", "assert_all_finite", "assert_equal", "assert_greater", "assert_integer"),
            *("assert_greater_equal", "assert_less", "assert_less_equal", "assert_near"),
            *("assert_negative", "assert_non_negative", "assert_non_positive", "assert_positive"),
            *("assert_none_equal", "assert_proper_iterable", "assert_rank", "assert_rank_at_least"),
            *("assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_shapes"),
            *("assert_type", "check_numerics", "disable_check_numerics", "enable_check_numerics"),
            *("is_numeric_tensor", "get_log_device_placement", "set_log_device_placement"),
        )
    },
)
saved_model = Space(
    "saved_model",
    Asset=_Asset,
    save=_save,
    load=_lg.load_either,
    contains_saved_model=_lg.contains_either,
    SaveOptions=_SaveOptions,
    LoadOptions=_LoadOptions,
    **_SAVED,
)
distribute = Space("distribute", **_di.MEMBERS)
train = Space(
    "train",
    ClusterSpec=_cl.ClusterSpec,
    Server=_sv.Server,
    replica_device_setter=_sv.replica_device_setter,
    Checkpoint=_ck.Checkpoint,
    CheckpointManager=_ck.CheckpointManager,
    Saver=_t.Saver,
    latest_checkpoint=_t.latest_checkpoint,
    list_variables=_t.list_variables,
    load_variable=_t.load_variable,
    Optimizer=_op.Optimizer,
    FtrlOptimizer=_fo.FtrlOptimizer,
    ProximalGradientDescentOptimizer=_fo.ProximalGradientDescentOptimizer,
    ProximalAdagradOptimizer=_fo.ProximalAdagradOptimizer,
    AdagradDAOptimizer=_fo.AdagradDAOptimizer,
    GradientDescentOptimizer=_o.GradientDescentOptimizer,
    MomentumOptimizer=_o.MomentumOptimizer,
    AdamOptimizer=_o.AdamOptimizer,
    AdagradOptimizer=_o.AdagradOptimizer,
    RMSPropOptimizer=_o.RMSPropOptimizer,
    AdadeltaOptimizer=_o.AdadeltaOptimizer,
    get_or_create_global_step=_t.get_or_create_global_step,
    get_global_step=_t.get_global_step,
    global_step=lambda sess, global_step_tensor: int(sess.run(global_step_tensor)),
    checkpoint_exists=_t.checkpoint_exists,
    load_checkpoint=_t.load_checkpoint,
    create_global_step=_t.create_global_step,
    NewCheckpointReader=_as_called(
        "train.NewCheckpointReader", _t.load_checkpoint, [("filepattern", "ckpt_dir_or_file")]
    ),
    Coordinator=_cd.Coordinator,
    QueueRunner=_cd.QueueRunner,
    add_queue_runner=_cd.add_queue_runner,
    start_queue_runners=_cd.start_queue_runners,
    ExponentialMovingAverage=_av.ExponentialMovingAverage,
    assert_global_step=_t.assert_global_step,
    import_meta_graph=_t.import_meta_graph,
    write_graph=_mg.write_graph,
    MetaGraphDef=_mg.MetaGraphDef,
    export_meta_graph=_mg.export_meta_graph,
    init_from_checkpoint=_ss.init_from_checkpoint,
    warm_start=_ss.warm_start,
    VocabInfo=_ss.VocabInfo,
    **{
        n: getattr(_cs, n)
        for n in (
            *(
                "CheckpointOptions",
                "CheckpointState",
                "checkpoints_iterator",
                "generate_checkpoint_state_proto",
            ),
            *("get_checkpoint_mtimes", "get_checkpoint_state", "remove_checkpoint"),
            "update_checkpoint_state",
        )
    },
    **_MONITORED,
    **_ra.V1,
    **_MESSAGES,
    **_PRODUCERS,
)
profiler = Space(
    "profiler",
    experimental=Space(
        "profiler.experimental",
        **{n: getattr(_pr, n) for n in ("Profile", "ProfilerOptions", "start", "stop", "warmup")},
        Trace=_pr.named,
        server=Space("profiler.experimental.server", start=_pr.no_server),
        client=Space("profiler.experimental.client", trace=_pr.no_server, monitor=_pr.no_server),
    ),
)
