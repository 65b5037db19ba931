"""The native core's methods: buffers and calls here, the algorithms in ``native/core``."""
