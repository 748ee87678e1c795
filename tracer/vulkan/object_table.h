#pragma once

#include <pthread.h>
#include <stdlib.h>

#include <new>

namespace corun::vulkan {

/// Objects by dispatch key, in memory that is never given back: finding needs no lock. The first kBlock objects are
/// static; more are allocated kBlock at a time when a program needs them. Any thread; an object is its taker's alone
/// until it is published, and again after it was hidden.
template <class Object, int kBlock>
class ObjectTable {
 public:
  Object* find(const void* key) {
    for (Block* block = &first_; block != nullptr; block = after(*block)) {
      for (Entry& entry : block->entries) {
        if (__atomic_load_n(&entry.key, __ATOMIC_ACQUIRE) == key) return &entry.object;
      }
    }
    return nullptr;
  }
  /// A free object, to be filled and then published; null only where there is no memory for another.
  Object* take() {
    pthread_mutex_lock(&lock_);
    Entry* taken = free_entry();
    if (taken != nullptr) taken->is_taken = true;
    pthread_mutex_unlock(&lock_);
    return taken == nullptr ? nullptr : &taken->object;
  }
  void publish(Object* object, const void* key) { __atomic_store_n(&of(object).key, key, __ATOMIC_RELEASE); }
  void hide(Object* object) { publish(object, nullptr); }
  void give_back(Object* object) {
    pthread_mutex_lock(&lock_);
    of(object).is_taken = false;
    pthread_mutex_unlock(&lock_);
  }
  template <class Visit>
  void for_each(Visit visit) {
    for (Block* block = &first_; block != nullptr; block = after(*block)) {
      for (Entry& entry : block->entries) {
        if (__atomic_load_n(&entry.key, __ATOMIC_ACQUIRE) != nullptr) visit(entry.object);
      }
    }
  }

 private:
  struct Entry {
    Object object{};
    const void* key = nullptr;
    bool is_taken = false;
  };
  struct Block {
    Entry entries[kBlock] = {};
    Block* next = nullptr;
  };

  static Block* after(Block& block) { return __atomic_load_n(&block.next, __ATOMIC_ACQUIRE); }
  Entry& of(Object* object) { return *reinterpret_cast<Entry*>(object); }

  Entry* free_entry() {
    Block* last = &first_;
    for (Block* block = last; block != nullptr; block = block->next) {
      for (Entry& entry : block->entries) {
        if (!entry.is_taken) return &entry;
      }
      last = block;
    }
    void* memory = calloc(1, sizeof(Block));
    if (memory == nullptr) return nullptr;
    auto* added = new (memory) Block;
    __atomic_store_n(&last->next, added, __ATOMIC_RELEASE);
    return &added->entries[0];
  }

  Block first_;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace corun::vulkan
