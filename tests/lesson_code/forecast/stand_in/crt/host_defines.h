/* The words of CUDA's compiler, which C passes over; the wheel with CUDA's headers lacks this file. */
#define __host__
#define __device__
#define __cudart_builtin__
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __align__(n) __attribute__((aligned(n)))
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
