// Structs by value and behind pointers, as tests/runtime/test_structs.py reads them.
#include "common/kleene.cuh"

const int kPair = 1 << 1;
const unsigned kEntries = 2 * kPair - 1;

struct Inner {
  double weight;
  bool set;
};

struct Record {
  unsigned char flag;  // padded
  long long total;
  Inner inner;
  unsigned counts[kEntries];
  short first, second;
};

struct AddParams {
  const int* values;
  Record* record;
  int n;
  float factor;
  bool twice;
  unsigned long long bias;
};

// Adds n values, scaled, and copies every field of the parameters into the record.
KL_KERNEL(structs_add, const AddParams params, int more) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  Record& record = *params.record;
  record.flag = 7;
  record.total = static_cast<long long>(params.bias);
  for (int i = 0; i < params.n; ++i) record.total += params.values[i] * (params.twice ? 2 : 1);
  record.inner.weight = params.factor;
  record.inner.set = params.twice;
  for (unsigned i = 0; i < kEntries; ++i) record.counts[i] = 10 + i;
  record.first = static_cast<short>(more);
  record.second = static_cast<short>(-more);
}
