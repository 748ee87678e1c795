#pragma once

/// Functions of GL that give the GPU something to do: the first of them after a submission opens a visit. A line is
/// enough for one: the way in (stubs.cpp) does not need its signature, only that it returns to its caller as any
/// function does.
///
/// Left out are calls that most drivers answer from the CPU alone (state, glBufferData, maps), and those that may only
/// stand between glBegin and glEnd.
// clang-format off
#define CORUN_GL_WORK_CALLS(X)                                                                                        \
  X(glDrawArrays) X(glDrawElements) X(glDrawRangeElements) X(glMultiDrawArrays) X(glMultiDrawElements)                \
  X(glDrawElementsBaseVertex) X(glDrawRangeElementsBaseVertex) X(glMultiDrawElementsBaseVertex)                       \
  X(glDrawArraysInstanced) X(glDrawElementsInstanced) X(glDrawElementsInstancedBaseVertex)                            \
  X(glDrawArraysInstancedBaseInstance) X(glDrawElementsInstancedBaseInstance)                                         \
  X(glDrawElementsInstancedBaseVertexBaseInstance)                                                                    \
  X(glDrawArraysIndirect) X(glDrawElementsIndirect) X(glMultiDrawArraysIndirect) X(glMultiDrawElementsIndirect)       \
  X(glMultiDrawArraysIndirectCount) X(glMultiDrawElementsIndirectCount) X(glMultiDrawArraysIndirectCountARB)          \
  X(glMultiDrawElementsIndirectCountARB)                                                                              \
  X(glDrawTransformFeedback) X(glDrawTransformFeedbackStream) X(glDrawTransformFeedbackInstanced)                     \
  X(glDrawTransformFeedbackStreamInstanced)                                                                           \
  X(glDrawMeshTasksEXT) X(glDrawMeshTasksIndirectEXT) X(glDrawMeshTasksNV) X(glDrawMeshTasksIndirectNV)               \
  X(glDrawArraysEXT) X(glDrawRangeElementsEXT) X(glMultiDrawArraysEXT) X(glMultiDrawElementsEXT)                      \
  X(glDrawArraysInstancedARB) X(glDrawElementsInstancedARB) X(glDrawArraysInstancedEXT)                               \
  X(glDrawElementsInstancedEXT)                                                                                       \
  X(glDrawArraysInstancedANGLE) X(glDrawElementsInstancedANGLE) X(glDrawArraysInstancedNV)                            \
  X(glDrawElementsInstancedNV)                                                                                        \
  X(glDrawElementsBaseVertexEXT) X(glDrawElementsBaseVertexOES) X(glDrawElementsInstancedBaseVertexEXT)               \
  X(glDrawElementsInstancedBaseVertexOES)                                                                             \
  X(glBegin) X(glCallList) X(glCallLists) X(glRectd) X(glRectf) X(glRecti) X(glEvalMesh1) X(glEvalMesh2)              \
  X(glDrawPixels) X(glCopyPixels) X(glBitmap) X(glAccum) X(glReadPixels) X(glGetTexImage)                             \
  X(glClear) X(glClearBufferfi) X(glClearBufferfv) X(glClearBufferiv) X(glClearBufferuiv)                             \
  X(glClearNamedFramebufferfi) X(glClearNamedFramebufferfv) X(glClearNamedFramebufferiv)                              \
  X(glClearNamedFramebufferuiv)                                                                                       \
  X(glClearBufferData) X(glClearBufferSubData) X(glClearNamedBufferData) X(glClearNamedBufferSubData)                 \
  X(glClearTexImage) X(glClearTexSubImage)                                                                            \
  X(glBlitFramebuffer) X(glBlitFramebufferANGLE) X(glBlitFramebufferEXT) X(glBlitFramebufferNV)                       \
  X(glBlitNamedFramebuffer)                                                                                           \
  X(glDispatchCompute) X(glDispatchComputeIndirect) X(glDispatchComputeGroupSizeARB)                                  \
  X(glTexImage1D) X(glTexImage2D) X(glTexImage3D) X(glTexImage3DOES) X(glTexSubImage1D) X(glTexSubImage2D)            \
  X(glTexSubImage3D) X(glTexSubImage3DOES)                                                                            \
  X(glCompressedTexImage1D) X(glCompressedTexImage2D) X(glCompressedTexImage3D)                                       \
  X(glCompressedTexSubImage1D) X(glCompressedTexSubImage2D) X(glCompressedTexSubImage3D)                              \
  X(glCompressedTextureSubImage1D) X(glCompressedTextureSubImage2D) X(glCompressedTextureSubImage3D)                  \
  X(glTextureSubImage1D) X(glTextureSubImage2D) X(glTextureSubImage3D)                                                \
  X(glCopyTexImage1D) X(glCopyTexImage2D) X(glCopyTexSubImage1D) X(glCopyTexSubImage2D) X(glCopyTexSubImage3D)        \
  X(glCopyTextureSubImage1D) X(glCopyTextureSubImage2D) X(glCopyTextureSubImage3D)                                    \
  X(glCopyImageSubData) X(glCopyImageSubDataEXT) X(glCopyImageSubDataOES) X(glCopyBufferSubData)                      \
  X(glCopyNamedBufferSubData)                                                                                         \
  X(glGenerateMipmap) X(glGenerateMipmapEXT) X(glGenerateMipmapOES) X(glGenerateTextureMipmap)

/// Functions of GL that give no work and behind which it may have to wait for what came before: it goes to another
/// target or reads what was written. They end a pass, also where the target stays the same.
#define CORUN_GL_PASS_CALLS(X)                                                                                        \
  X(glBindFramebuffer) X(glBindFramebufferEXT) X(glBindFramebufferOES)                                                \
  X(glFramebufferTexture) X(glFramebufferTextureARB) X(glFramebufferTextureEXT) X(glFramebufferTextureOES)            \
  X(glFramebufferTexture1D) X(glFramebufferTexture2D) X(glFramebufferTexture3D)                                       \
  X(glFramebufferTexture1DEXT) X(glFramebufferTexture2DEXT) X(glFramebufferTexture3DEXT)                              \
  X(glFramebufferTexture2DOES) X(glFramebufferTexture3DOES)                                                           \
  X(glFramebufferTextureLayer) X(glFramebufferTextureLayerARB) X(glFramebufferTextureLayerEXT)                        \
  X(glFramebufferRenderbuffer) X(glFramebufferRenderbufferEXT) X(glFramebufferRenderbufferOES)                        \
  X(glNamedFramebufferTexture) X(glNamedFramebufferTextureLayer) X(glNamedFramebufferRenderbuffer)                    \
  X(glFramebufferTexture2DMultisampleEXT) X(glFramebufferTextureFaceARB) X(glFramebufferTextureFaceEXT)               \
  X(glNamedFramebufferTextureEXT) X(glNamedFramebufferTextureLayerEXT) X(glNamedFramebufferRenderbufferEXT)           \
  X(glFramebufferTextureMultiviewOVR) X(glNamedFramebufferDrawBuffer) X(glNamedFramebufferDrawBuffers)                \
  X(glDrawBuffer) X(glDrawBuffers) X(glDrawBuffersARB) X(glDrawBuffersATI) X(glDrawBuffersEXT)                        \
  X(glMemoryBarrier) X(glMemoryBarrierEXT) X(glMemoryBarrierByRegion) X(glTextureBarrier) X(glTextureBarrierNV)       \
  X(glBlendBarrier) X(glBlendBarrierKHR) X(glBlendBarrierNV)
// clang-format on
