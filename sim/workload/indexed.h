#pragma once

#include <cstddef>
#include <iterator>

namespace corun {

/// Goes through a list that puts its entries together when they are asked for by index.
template <class List, class Entry>
class IndexedIterator {
 public:
  using value_type = Entry;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using pointer = void;
  using reference = Entry;

  IndexedIterator() = default;
  IndexedIterator(const List& list, std::size_t index) : list_(&list), index_(index) {}
  Entry operator*() const { return (*list_)[index_]; }
  IndexedIterator& operator++() {
    ++index_;
    return *this;
  }
  IndexedIterator operator++(int) { return {*list_, index_++}; }
  friend bool operator==(const IndexedIterator&, const IndexedIterator&) = default;

 private:
  const List* list_ = nullptr;
  std::size_t index_ = 0;
};

}  // namespace corun
