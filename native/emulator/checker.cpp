#include "checker.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#ifdef __linux__
#include <link.h>
#endif

namespace kleene::emulator {

namespace {

Time clock_now = 1;  // advanced only by the thread that runs kernels

Cells make_cells(std::size_t count) {
  void* const memory = std::calloc(std::max<std::size_t>(count, 1), sizeof(Cell));
  if (memory == nullptr) throw std::bad_alloc();
  return Cells(static_cast<Cell*>(memory));
}

// ---- arrays of the device -----------------------------------------------------------------------

std::mutex arrays_guard;
std::map<std::uintptr_t, Allocation> arrays;
Allocation* last_found = nullptr;

Allocation* find_array(std::uintptr_t address) {
  if (last_found != nullptr && address - last_found->first < last_found->bytes) return last_found;
  const std::lock_guard lock(arrays_guard);
  auto after = arrays.upper_bound(address);
  if (after == arrays.begin()) return nullptr;
  Allocation& array = std::prev(after)->second;
  if (address - array.first >= array.bytes) return nullptr;
  if (!array.cells) array.cells = make_cells(array.bytes / array.item + 1);
  last_found = &array;
  return last_found;
}

// ---- this module --------------------------------------------------------------------------------

struct Image {
  std::uintptr_t first = 0, end = 0;      // code and constants
  std::uintptr_t tls = 0, tls_bytes = 0;  // __shared__ variables of the calling thread
};

#ifdef __linux__
int match_image(dl_phdr_info* info, std::size_t, void* result) {
  auto& image = *static_cast<Image*>(result);
  const auto own = reinterpret_cast<std::uintptr_t>(&clock_now);
  Image seen;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    const std::uintptr_t first = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) {
      if (seen.first == 0) seen.first = first;
      seen.end = std::max<std::uintptr_t>(seen.end, first + part.p_memsz);
    } else if (part.p_type == PT_TLS) {
      seen.tls = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
      seen.tls_bytes = part.p_memsz;
    }
  }
  if (own < seen.first || seen.end <= own) return 0;
  image = seen;
  return 1;
}
#endif

Image this_image() {
  Image image;
#ifdef __linux__
  // Taking the address creates the thread's copy, unless the compiler drops it.
  asm volatile("" : : "r"(&current_thread) : "memory");
  dl_iterate_phdr(&match_image, &image);
#endif
  return image;
}

std::string size_of(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string title_of(const Allocation& array) {
  const std::string name = array.name.empty() ? "an array" : "array '" + array.name + "'";
  return name + " of " + std::to_string(array.bytes / array.item) + " numbers";
}

}  // namespace

void register_array(std::uintptr_t first, std::size_t bytes, unsigned item, std::string name) {
  const std::lock_guard lock(arrays_guard);
  last_found = nullptr;
  arrays[first] = Allocation{first, bytes, item, std::move(name), {}};
}

void forget_array(std::uintptr_t first) {
  const std::lock_guard lock(arrays_guard);
  if (last_found != nullptr && last_found->first == first) last_found = nullptr;
  arrays.erase(first);
}

Checker::Checker(const Launch& launch)
    : launch_(launch), began_(++clock_now), times_(launch.checked ? launch.blocks() : 0) {}

void Checker::begin_block(Block& block, unsigned char* shared) {
  Shadow& shadow = shadows_[&block];
  const uint3 index = block.index();
  const dim3 grid = launch_.grid;
  shadow.number = index.x + grid.x * (index.y + grid.y * index.z);
  shadow.began = ++clock_now;
  shadow.warp_synced.assign(std::size_t{block.count()} * 32, 0);
  const auto first = reinterpret_cast<std::uintptr_t>(shared);
  if (!shadow.dynamic.cells) shadow.dynamic = {first, launch_.shared, make_cells(launch_.shared)};
  const Image image = this_image();
  if (!shadow.fixed.cells || shadow.fixed.first != image.tls) {
    shadow.fixed = {image.tls, image.tls == 0 ? 0 : image.tls_bytes, make_cells(image.tls_bytes)};
  }
}

// ---- ordering -----------------------------------------------------------------------------------

void Checker::block_synced(const Block& block) {
  times_[shadow_of(block).number].synced = ++clock_now;
}

void Checker::warp_synced(const Block& block, std::uint32_t first, unsigned lanes) {
  Shadow& shadow = shadow_of(block);
  ++clock_now;
  for (unsigned a = 0; a < 32; ++a) {
    if ((lanes >> a & 1) == 0) continue;
    for (unsigned b = 0; b < 32; ++b) {
      if (lanes >> b & 1) shadow.warp_synced[(first + a) * 32 + b] = clock_now;
    }
  }
}

void Checker::grid_synced() { grid_synced_ = ++clock_now; }

void Checker::fence(const Thread& thread) {
  times_[shadow_of(*thread.in).number].fenced.push_back(++clock_now);
}

bool Checker::ordered(const Access& earlier, const Access& current, const Place& place,
                      const Shadow& shadow) const {
  if (place.shared && earlier.time < shadow.began) return true;  // by an earlier block
  if (earlier.time < began_ || earlier.time < grid_synced_) return true;
  if (earlier.by(current.block, current.thread)) return true;
  const Times& theirs = times_[earlier.block];
  if (earlier.block == current.block) {
    if (earlier.time < theirs.synced) return true;
    if (earlier.thread / 32 == current.thread / 32 &&
        earlier.time < shadow.warp_synced[current.thread * 32u + earlier.thread % 32]) {
      return true;
    }
  }
  const auto& fences = theirs.fenced;  // a fence after the earlier access, acquired before this one
  const auto next = std::upper_bound(fences.begin(), fences.end(), earlier.time);
  return next != fences.end() && *next < times_[current.block].acquired;
}

Access Checker::access_of(const Thread& thread, Site site, bool atomic) {
  const auto number = static_cast<std::uint16_t>(&thread - &thread.in->thread(0));
  return {site, clock_now, shadow_of(*thread.in).number, number, atomic};
}

// ---- accesses -----------------------------------------------------------------------------------

void Checker::access(Thread& thread, const void* address, unsigned bytes, bool writes, Site site) {
  check_pending_write();
  const auto address_bits = reinterpret_cast<std::uintptr_t>(address);
  Place place;
  if (!find(thread, address_bits, bytes, writes, site, place)) return;
  const Access current = access_of(thread, site, false);
  if (!writes) return check_read(thread, place, current);
  for (unsigned i = 0; place.shared && i < place.cells; ++i) place.first[i].filled = clock_now;
  if (bytes > sizeof pending_.before) return check_write(thread, place, current);
  pending_ = {&thread, address_bits, bytes, {}, current};
  std::memcpy(pending_.before, address, bytes);
}

void Checker::check_pending_write() {
  if (pending_.thread == nullptr) return;
  Thread& thread = *pending_.thread;
  pending_.thread = nullptr;
  const void* const address = reinterpret_cast<const void*>(pending_.address);
  if (std::memcmp(pending_.before, address, pending_.bytes) == 0) return;
  Place place;
  if (find(thread, pending_.address, pending_.bytes, true, pending_.access.site, place)) {
    check_write(thread, place, pending_.access);
  }
}

void Checker::atomic(Thread& thread, const void* address, unsigned bytes, bool writes, Site site) {
  check_pending_write();
  Place place;
  const auto address_bits = reinterpret_cast<std::uintptr_t>(address);
  times_[shadow_of(*thread.in).number].acquired = ++clock_now;
  if (address_bits % bytes != 0)
    thread.in->fail(thread, site, "an atomic operation that is not aligned");
  if (!find(thread, address_bits, bytes, writes, site, place)) return;
  const Access current = access_of(thread, site, true);
  if (writes) {
    check_write(thread, place, current);
  } else {
    check_read(thread, place, current);
  }
}

bool Checker::find(Thread& thread, std::uintptr_t address, unsigned bytes, bool writes, Site site,
                   Place& place) {
  if (thread.fiber->stack().holds(reinterpret_cast<const void*>(address))) return false;
  Shadow& shadow = shadow_of(*thread.in);
  for (Region* region : {&shadow.dynamic, &shadow.fixed}) {
    if (!region->holds(address)) continue;
    if (!region->holds(address + bytes - 1)) break;
    place = {region->cells.get() + (address - region->first), bytes, true, nullptr};
    return true;
  }
  if (Allocation* const array = find_array(address)) {
    const std::uintptr_t begin = address - array->first;
    if (begin + bytes <= array->bytes) {
      const auto first = begin / array->item, last = (begin + bytes - 1) / array->item;
      place = {array->cells.get() + first, static_cast<unsigned>(last - first + 1), false, array};
      return true;
    }
  }
  const Image image = this_image();
  if (!writes && image.first <= address && address < image.end) return false;  // a constant
  out_of_range(thread, address, bytes, writes, site, shadow);
}

void Checker::check_read(Thread& thread, const Place& place, const Access& current) {
  const Shadow& shadow = shadow_of(*thread.in);
  for (unsigned i = 0; i < place.cells; ++i) {
    Cell& cell = place.first[i];
    if (place.shared && cell.filled < shadow.began) {
      thread.in->fail(thread, current.site, "it reads uninitialised shared memory");
    }
    if (!(current.atomic && cell.write.atomic) && !ordered(cell.write, current, place, shadow)) {
      conflict(thread, place, cell, cell.write, current, "reads what the other writes");
    }
    if (cell.read.by(current.block, current.thread) || ordered(cell.read, current, place, shadow)) {
      cell.read = current;
    } else {
      cell.other_read = current;
    }
  }
}

void Checker::check_write(Thread& thread, const Place& place, const Access& current) {
  const Shadow& shadow = shadow_of(*thread.in);
  for (unsigned i = 0; i < place.cells; ++i) {
    Cell& cell = place.first[i];
    if (!(current.atomic && cell.write.atomic) && !ordered(cell.write, current, place, shadow)) {
      conflict(thread, place, cell, cell.write, current, "writes what the other writes");
    }
    for (const Access* read : {&cell.read, &cell.other_read}) {
      if (!(current.atomic && read->atomic) && !ordered(*read, current, place, shadow)) {
        conflict(thread, place, cell, *read, current, "writes what the other reads");
      }
    }
    cell.write = current;
    cell.filled = current.time;
  }
}

// ---- errors -------------------------------------------------------------------------------------

void Checker::conflict(Thread& thread, const Place& place, const Cell& cell, const Access& earlier,
                       const Access& current, const char* verbs) {
  const dim3 block = launch_.block, grid = launch_.grid;
  const uint3 other{earlier.thread % block.x, earlier.thread / block.x % block.y,
                    earlier.thread / block.x / block.y};
  std::string what = std::string("conflict: it ") + verbs;
  if (place.array != nullptr) {
    what += ", number " + std::to_string(&cell - place.array->cells.get()) + " of " +
            title_of(*place.array);
  } else {
    what += ", in shared memory";
  }
  what += ", and nothing orders them; the other is ";
  if (earlier.block != current.block) {
    what += "block " +
            to_text(uint3{earlier.block % grid.x, earlier.block / grid.x % grid.y,
                          earlier.block / grid.x / grid.y}) +
            ", ";
  }
  what += "thread " + to_text(other) + ", " + to_text(earlier.site);
  thread.in->fail(thread, current.site, what);
}

void Checker::out_of_range(Thread& thread, std::uintptr_t address, unsigned bytes, bool writes,
                           Site site, const Shadow& shadow) {
  std::string what =
      "out of range: it " + std::string(writes ? "writes " : "reads ") + size_of(bytes);
  const auto beyond = [&](std::uintptr_t first, std::size_t length) {
    if (address < first) return ", " + size_of(first - address) + " before the start of ";
    if (address <= first + length) return std::string(" at the end of ");
    return ", " + size_of(address - first - length) + " past the end of ";
  };
  constexpr std::uintptr_t kNear = 4096;
  if (address + kNear >= shadow.dynamic.first &&
      address < shadow.dynamic.first + shadow.dynamic.bytes + kNear) {
    what += beyond(shadow.dynamic.first, shadow.dynamic.bytes) + size_of(launch_.shared) +
            " of dynamic shared memory";
    thread.in->fail(thread, site, what);
  }
  const std::lock_guard lock(arrays_guard);
  const Allocation* nearest = nullptr;
  std::uintptr_t least = ~std::uintptr_t{0};
  for (const auto& [first, array] : arrays) {
    const std::uintptr_t end = first + array.bytes;
    const std::uintptr_t away =
        address < first ? first - address : address - std::min(address, end);
    if (away < least) {
      least = away;
      nearest = &array;
    }
  }
  if (nearest == nullptr) {
    what += " in no array";
  } else {
    what += beyond(nearest->first, nearest->bytes) + title_of(*nearest) + ", the nearest there is";
  }
  arrays_guard.unlock();  // fail() neither returns nor unwinds
  thread.in->fail(thread, site, what);
}

}  // namespace kleene::emulator
