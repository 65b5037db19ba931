/* Stands in for the library of NVIDIA's driver: every call is a function of fake_driver.py.

   Python is gone when the last objects of cuda.core are destroyed. Their destructors come here
   first, and end here after the end of Python. */

#include <stddef.h>
#include <string.h>

typedef int (*Destroy)(size_t handle);

static void* (*resolver)(const char* name);
static int ended;

void set_resolver(void* (*other)(const char*)) { resolver = other; }
void end(void) { ended = 1; }

#define GUARDED(name)  \
  static Destroy name; \
  static int guarded_##name(size_t handle) { return ended ? 0 : name(handle); }
#define RESOLVE(which)                  \
  if (!strcmp(name, #which)) {          \
    which = (Destroy)resolver(name);    \
    *function = (void*)guarded_##which; \
    return 0;                           \
  }

GUARDED(cuStreamDestroy)
GUARDED(cuEventDestroy)
GUARDED(cuGraphDestroy)
GUARDED(cuGraphExecDestroy)
GUARDED(cuLibraryUnload)
GUARDED(cuDevicePrimaryCtxRelease)

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags,
                        void* status) {
  RESOLVE(cuStreamDestroy)
  RESOLVE(cuEventDestroy)
  RESOLVE(cuGraphDestroy)
  RESOLVE(cuGraphExecDestroy)
  RESOLVE(cuLibraryUnload)
  RESOLVE(cuDevicePrimaryCtxRelease)
  *function = resolver(name);
  return *function ? 0 : 500; /* CUDA_ERROR_NOT_FOUND */
}
