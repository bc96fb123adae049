"""What all of the frontend speaks of: element types, nested values, contexts, devices.

`context` says who carries operations out, and which session is entered; `dtypes` are element types
as users see them, `arrays` values as numpy arrays, `nest` structures, `devices` names of devices,
`origin` the user's line, `run_errors` errors by TensorFlow's names. `given` has the types of what
users may write where a tensor, an element type, a shape or an axis is wanted. `boxes` and
`distinct` are loops that find boxes that stand out, and distinct numbers.
"""
