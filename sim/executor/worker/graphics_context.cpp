#include <deque>
#include <vector>

#include "sim/executor/driver/graphics_driver.h"
#include "sim/executor/worker/device_clock.h"
#include "sim/executor/worker/device_context.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr unsigned kOpenGlApi = 0x30A2, kVertexShader = 0x8B31, kFragmentShader = 0x8B30, kLinkStatus = 0x8B82;
constexpr unsigned kTexture2d = 0x0DE1, kRgba8 = 0x8058, kFramebuffer = 0x8D40, kColor = 0x8CE0, kIsComplete = 0x8CD5;
constexpr unsigned kTimestamp = 0x8E28, kIsAvailable = 0x8867, kResult = 0x8866, kTriangles = 4, kRenderer = 0x1F01;
constexpr int kQueries = Channel::kDepth;  // pairs

constexpr const char* kVertexText = R"(#version 430
void main() {
  vec2 at = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0);
})";

// As in surrogate.cu: a chain of dependent multiply-adds, counted.
constexpr const char* kFragmentText = R"(#version 430
uniform int iterations;
out vec4 color;
void main() {
  float value = gl_FragCoord.x;
  for (int i = 0; i < iterations; ++i) value = fma(value, 0.999, 0.5);
  color = vec4(value);
})";

class GraphicsContext : public DeviceContext {
 public:
  explicit GraphicsContext(Channel& channel) : channel_(channel), display_(gl_.open_display(channel.setup.device)) {
    enter_context();
    gl_.find_gl();
    make_target();
    make_program();
    queries_.resize(2 * kQueries);
    gl_.gen_queries(2 * kQueries, queries_.data());
  }
  ~GraphicsContext() override { gl_.terminate(display_); }
  GraphicsContext(const GraphicsContext&) = delete;
  GraphicsContext& operator=(const GraphicsContext&) = delete;

  void describe(Channel& channel) override {
    set_text(channel.device_name, gl_.get_string(kRenderer));
    const ClockOffset offset = measure_clock([this] {
      std::int64_t shown = 0;
      gl_.get_integer(kTimestamp, &shown);
      return shown;
    });
    channel.clock_offset_ns = offset.ns;
    channel.clock_error_ns = offset.error_ns;
  }

  double trial_ns(const ShapeLaw&, std::uint64_t iterations) override {
    draw(0, iterations);
    gl_.finish();
    return static_cast<double>(result(end_query(0)) - result(begin_query(0)));
  }

  void carry_out(const Command& command) override {
    if (command.kind != CommandKind::kRender || command.stream != 0)
      throw Error(ErrorKind::kUnsupported, "a client that renders does nothing else on hardware");
    draw(command.number, command.iterations);
    drawn_.push_back({command.number, false});
    flush_ = Flush::kAfterMore;
  }

  /// What was handed over at once reaches the device at once.
  void look() override {
    if (flush_ == Flush::kNow) gl_.flush();
    flush_ = flush_ == Flush::kAfterMore ? Flush::kNow : Flush::kNone;
    while (!drawn_.empty() && look_at(drawn_.front())) drawn_.pop_front();
  }

  void drain() override { gl_.finish(); }

 private:
  enum class Flush { kNone, kAfterMore, kNow };
  struct Drawn {
    std::uint64_t number;
    bool has_begun;
  };

  void enter_context() {
    constexpr int kNone = 0x3038, kRenderableType = 0x3040, kOpenGl = 0x0008, kSurfaceType = 0x3033;
    const int wanted[] = {kSurfaceType, 0, kRenderableType, kOpenGl, kNone};
    const int version[] = {0x3098, 4, 0x30FB, 3, kNone};  // EGL_CONTEXT_MAJOR_VERSION, _MINOR_VERSION
    EglHandle config = nullptr;
    int count = 0;
    gl_.bind_api(kOpenGlApi);
    if (gl_.choose_config(display_, wanted, &config, 1, &count) == 0 || count == 0)
      throw Error(ErrorKind::kUnsupported, "EGL has no configuration for OpenGL");
    EglHandle context = gl_.create_context(display_, config, nullptr, version);
    if (context == nullptr || gl_.make_current(display_, nullptr, nullptr, context) == 0)
      throw Error(ErrorKind::kUnsupported, "EGL makes no context of OpenGL 4.3 without a surface");
  }

  void make_target() {
    unsigned texture = 0, framebuffer = 0, vertices = 0;
    const int width = static_cast<int>(channel_.setup.width), height = static_cast<int>(channel_.setup.height);
    gl_.gen_textures(1, &texture);
    gl_.bind_texture(kTexture2d, texture);
    gl_.texture_storage(kTexture2d, 1, kRgba8, width, height);
    gl_.gen_framebuffers(1, &framebuffer);
    gl_.bind_framebuffer(kFramebuffer, framebuffer);
    gl_.framebuffer_texture(kFramebuffer, kColor, kTexture2d, texture, 0);
    if (gl_.framebuffer_status(kFramebuffer) != kIsComplete)
      throw Error(ErrorKind::kDevice, fmt::format("no texture of {} x {} to render into", width, height));
    gl_.viewport(0, 0, width, height);
    gl_.gen_vertex_arrays(1, &vertices);
    gl_.bind_vertex_array(vertices);
  }

  void make_program() {
    const unsigned program = gl_.create_program();
    for (const auto& [kind, text] :
         {std::pair{kVertexShader, kVertexText}, std::pair{kFragmentShader, kFragmentText}}) {
      const unsigned shader = gl_.create_shader(kind);
      gl_.shader_source(shader, 1, &text, nullptr);
      gl_.compile_shader(shader);
      gl_.attach_shader(program, shader);
    }
    gl_.link_program(program);
    int is_linked = 0;
    gl_.get_program(program, kLinkStatus, &is_linked);
    if (is_linked == 0) throw Error(ErrorKind::kDevice, "the graphics driver does not take the surrogate shader");
    gl_.use_program(program);
    iterations_ = gl_.uniform_location(program, "iterations");
  }

  unsigned begin_query(std::uint64_t number) const { return queries_[2 * (number % kQueries)]; }
  unsigned end_query(std::uint64_t number) const { return queries_[2 * (number % kQueries) + 1]; }

  void draw(std::uint64_t number, std::uint64_t iterations) {
    gl_.uniform(iterations_, static_cast<int>(std::min<std::uint64_t>(iterations, INT32_MAX)));
    gl_.query_counter(begin_query(number), kTimestamp);
    gl_.draw_arrays(kTriangles, 0, 3);
    gl_.query_counter(end_query(number), kTimestamp);
  }

  bool is_available(unsigned query) const {
    int available = 0;
    gl_.query_available(query, kIsAvailable, &available);
    return available != 0;
  }

  std::uint64_t result(unsigned query) const {
    std::uint64_t ns = 0;
    gl_.query_result(query, kResult, &ns);
    return ns;
  }

  /// True when it has ended.
  bool look_at(Drawn& drawn) {
    Stamp& stamp = channel_.stamp(drawn.number);
    if (!drawn.has_begun) {
      if (!is_available(begin_query(drawn.number))) return false;
      drawn.has_begun = true;
      std::atomic_ref(stamp.begin_ns).store(result(begin_query(drawn.number)), std::memory_order_release);
    }
    if (!is_available(end_query(drawn.number))) return false;
    stamp.end_ns = result(end_query(drawn.number));
    std::atomic_ref(stamp.ticket).store(drawn.number + 1, std::memory_order_release);
    return true;
  }

  Channel& channel_;
  GraphicsDriver gl_;
  EglHandle display_;
  std::vector<unsigned> queries_;
  int iterations_ = -1;
  Flush flush_ = Flush::kNone;
  std::deque<Drawn> drawn_;
};

}  // namespace

std::unique_ptr<DeviceContext> make_graphics_context(Channel& channel) {
  return std::make_unique<GraphicsContext>(channel);
}

}  // namespace corun::executor
