#include "games/scene/drawing/shaders.h"

namespace scene {

const char* const kShadowVertexText = R"(#version 330 core
layout(location = 0) in vec3 place;
uniform mat4 model, view;
void main() { gl_Position = view * (model * vec4(place, 1.0)); }
)";

const char* const kShadowFragmentText = R"(#version 330 core
void main() {}
)";

const char* const kObjectVertexText = R"(#version 330 core
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
uniform mat4 model, view;
out vec3 at;
out vec3 facing;
void main() {
  vec4 world = model * vec4(place, 1.0);
  at = world.xyz;
  facing = transpose(inverse(mat3(model))) * normal;
  gl_Position = view * world;
}
)";

const char* const kObjectFragmentText = R"(#version 330 core
layout(std140) uniform Lamps { vec4 places[512]; vec4 colors[512]; };
uniform int lights, shadow_maps, shadow_taps;
uniform mat4 sun_views[4];
uniform vec3 suns[4];
uniform sampler2DArrayShadow shadows;
uniform vec3 eye;
uniform vec4 tint;
in vec3 at;
in vec3 facing;
out vec4 color;

float sunlit(int sun) {
  vec3 texel = (sun_views[sun] * vec4(at, 1.0)).xyz * 0.5 + 0.5;
  const mat2 turn = mat2(-0.7374, 0.6755, -0.6755, -0.7374);  // by the golden angle: taps fill a disc evenly
  vec2 direction = vec2(1.0, 0.0);
  float sum = 0.0;
  for (int i = 0; i < shadow_taps; ++i) {
    direction = turn * direction;
    vec2 offset = direction * sqrt((float(i) + 0.5) / float(shadow_taps)) * 0.0012;
    sum += texture(shadows, vec4(texel.xy + offset, float(sun), texel.z - 0.0015));
  }
  return sum / float(shadow_taps);
}

vec3 reflected(vec3 normal, vec3 to_eye, vec3 to_light, vec3 light) {
  float gloss = max(dot(normal, normalize(to_light + to_eye)), 0.0);
  gloss *= gloss;
  gloss *= gloss;
  gloss *= gloss;
  gloss *= gloss;
  return light * (tint.rgb * max(dot(normal, to_light), 0.0) + tint.a * gloss * gloss);
}

void main() {
  vec3 normal = normalize(facing), to_eye = normalize(eye - at);
  vec3 sum = tint.rgb * 0.04;
  for (int i = 0; i < 4; ++i) {
    float reaching = i < shadow_maps ? sunlit(i) : 1.0;
    sum += reaching * reflected(normal, to_eye, suns[i], vec3(1.2, 1.1, 0.9) * (i == 0 ? 0.6 : 0.13));
  }
  for (int i = 0; i < lights; ++i) {
    vec3 way = places[i].xyz - at;
    float distance2 = dot(way, way);
    float reached = max(1.0 - distance2 / (places[i].w * places[i].w), 0.0);
    sum += reflected(normal, to_eye, way * inversesqrt(distance2), colors[i].rgb * (reached * reached));
  }
  color = vec4(sum, 1.0);
}
)";

const char* const kFilterVertexText = R"(#version 330 core
out vec2 at;
void main() {
  at = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0);
}
)";

const char* const kFilterFragmentText = R"(#version 330 core
uniform sampler2D picture;
uniform int filter_taps;
uniform vec2 reach;
in vec2 at;
out vec4 color;
void main() {
  vec3 middle = texture(picture, at).rgb, glow = vec3(0.0);
  const mat2 turn = mat2(-0.7374, 0.6755, -0.6755, -0.7374);
  vec2 direction = vec2(1.0, 0.0);
  for (int i = 0; i < filter_taps; ++i) {
    direction = turn * direction;
    vec2 offset = direction * sqrt((float(i) + 0.5) / float(filter_taps)) * reach;
    glow += max(texture(picture, at + offset).rgb - 0.8, 0.0);
  }
  vec3 light = middle + 0.5 * glow / float(filter_taps);
  light *= 1.0 - 0.35 * dot(at - 0.5, at - 0.5);
  color = vec4(pow(light / (1.0 + 0.5 * light), vec3(1.0 / 2.2)), 1.0);
}
)";

}  // namespace scene
