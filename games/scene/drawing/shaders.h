#pragma once

namespace scene {

// GLSL of the passes. `lights`, `shadow_taps` and `filter_taps` are the loops that a level and the load decide on.
extern const char* const kShadowVertexText;
extern const char* const kShadowFragmentText;
extern const char* const kObjectVertexText;
extern const char* const kObjectFragmentText;
extern const char* const kFilterVertexText;
extern const char* const kFilterFragmentText;

}  // namespace scene
