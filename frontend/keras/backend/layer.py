"""What is added to Keras's layers: nothing."""


class BackendLayer:
    """The base of Keras's layers on gravure."""
