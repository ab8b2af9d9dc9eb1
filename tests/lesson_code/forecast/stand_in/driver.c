/* A CUDA driver for a machine without a GPU: it knows one GPU, which nobody has touched. */
int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13020; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuCtxGetCurrent(void **context) { *context = 0; return 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *flags = 0; *active = 0; return 0; }
int cuGetErrorString(int error, const char **text) { *text = "stand-in"; return 0; }
