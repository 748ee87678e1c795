#include "games/scene/drawing/meshes.h"

#include <numbers>

namespace scene {

namespace {

struct Vertex {
  Vector place, normal;
};

struct Triangles {
  std::vector<Vertex> vertices;
  std::vector<std::uint16_t> indices;

  /// Two triangles between the vertices a, b, c and d around a face.
  void add_face(std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    for (std::size_t i : {a, b, c, a, c, d}) indices.push_back(static_cast<std::uint16_t>(i));
  }
};

void add_box(Triangles& out) {
  constexpr Vector kAxes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int axis = 0; axis < 3; ++axis)
    for (float sign : {-1.0F, 1.0F}) {
      const Vector normal = kAxes[axis] * sign, right = kAxes[(axis + 1) % 3], up = cross(normal, right);
      const std::size_t first = out.vertices.size();
      for (const auto& [u, v] : {std::pair{-1.0F, -1.0F}, {1.0F, -1.0F}, {1.0F, 1.0F}, {-1.0F, 1.0F}})
        out.vertices.push_back({normal - right * -u - up * -v, normal});
      out.add_face(first, first + 1, first + 2, first + 3);
    }
}

void add_ball(Triangles& out) {
  constexpr std::size_t kRings = 12, kSides = 24;
  constexpr float kPi = std::numbers::pi_v<float>;
  const std::size_t first = out.vertices.size();
  for (std::size_t ring = 0; ring <= kRings; ++ring)
    for (std::size_t side = 0; side <= kSides; ++side) {
      const float down = kPi * static_cast<float>(ring) / kRings, around = 2 * kPi * static_cast<float>(side) / kSides;
      const Vector at{std::sin(down) * std::cos(around), std::cos(down), std::sin(down) * std::sin(around)};
      out.vertices.push_back({at, at});
    }
  for (std::size_t ring = 0; ring < kRings; ++ring)
    for (std::size_t side = 0; side < kSides; ++side) {
      const std::size_t corner = first + ring * (kSides + 1) + side, below = corner + kSides + 1;
      out.add_face(corner, corner + 1, below + 1, below);
    }
}

}  // namespace

Meshes::Meshes(const Gl& gl) : gl_(gl) {
  Triangles all;
  add_box(all);
  box_.count = static_cast<GLsizei>(all.indices.size());
  ball_.first = all.indices.size();
  add_ball(all);
  ball_.count = static_cast<GLsizei>(all.indices.size() - ball_.first);
  GLuint buffers[2] = {};
  gl.GenVertexArrays(1, &vertices_);
  gl.BindVertexArray(vertices_);
  gl.GenBuffers(2, buffers);
  gl.BindBuffer(GL_ARRAY_BUFFER, buffers[0]);
  gl.BindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
  const auto bytes = [](const auto& list) { return static_cast<GLsizeiptr>(list.size() * sizeof list[0]); };
  gl.BufferData(GL_ARRAY_BUFFER, bytes(all.vertices), all.vertices.data(), GL_STATIC_DRAW);
  gl.BufferData(GL_ELEMENT_ARRAY_BUFFER, bytes(all.indices), all.indices.data(), GL_STATIC_DRAW);
  for (GLuint i : {0U, 1U}) {
    gl.EnableVertexAttribArray(i);
    gl.VertexAttribPointer(i, 3, GL_FLOAT, GL_FALSE, sizeof(Vertex), reinterpret_cast<void*>(i * sizeof(Vector)));
  }
}

void Meshes::draw(Shape shape) const {
  const Range& range = shape == Shape::kBox ? box_ : ball_;
  gl_.DrawElements(GL_TRIANGLES, range.count, GL_UNSIGNED_SHORT,
                   reinterpret_cast<void*>(range.first * sizeof(std::uint16_t)));
}

}  // namespace scene
