// A closed matrix as the user sees it: no padding, in the type of the answer, with its "no path".
//
// Reads and writes every entry once: at 4 bytes each way 0.13 ms for n = 8192 at the 4.2 TB/s of an
// H200.
#include "common/kleene.cuh"

template <class Word>
__device__ __forceinline__ Word entry(const Word* row, int column) {
  return row[column];
}

__device__ __forceinline__ unsigned entry(const unsigned* row, int column) {  // bits
  return row[column / 32] >> (column % 32) & 1;
}

template <class Word>
__device__ __forceinline__ void put(Word value, unsigned char& to) {
  to = 1;
}

template <class Word, class Number>
__device__ __forceinline__ void put(Word value, Number& to) {
  to = static_cast<Number>(value);
}

// Numbers from `lowest` to `highest` are paths. `stride` is that of the words; the answer has none.
KL_KERNEL(closure_export, const KL_WORD* words, long long stride, int n, long long lowest,
          long long highest, KL_TYPE* values, KL_TYPE no_path) {
  for (int i = blockIdx.x; i < n; i += gridDim.x) {
    const KL_WORD* const row = words + i * stride;
    KL_TYPE* const answer = values + static_cast<long long>(i) * n;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      const KL_WORD value = entry(row, j);
      if (lowest <= value && value <= highest) {
        put(value, answer[j]);
      } else {
        answer[j] = no_path;
      }
    }
  }
}
