#include "traces/text/kernel_name.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace corun {
namespace {

TEST(KernelName, LosesReturnTypeTemplateArgumentsAndArgumentList) {
  EXPECT_EQ(short_kernel_name("void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 128, true, 1>(float, int)"),
            "cudnn::bn_bw_1C11_kernel_new");
  EXPECT_EQ(short_kernel_name("relu(float*)"), "relu");
  EXPECT_EQ(short_kernel_name("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, (bool)1>(int)"),
            "internal::gemvx::kernel");
  EXPECT_EQ(short_kernel_name("void a::b<c<d<4> > >::e<f>(g<h>)"), "a::b::e");
}

TEST(KernelName, KeepsAnonymousNamespaces) {
  EXPECT_EQ(short_kernel_name("void at::native::(anonymous namespace)::softmax<4>(float*)"),
            "at::native::(anonymous namespace)::softmax");
  EXPECT_EQ(short_kernel_name("void <unnamed>::softmax<4>(float*)"), "<unnamed>::softmax");
}

TEST(KernelName, IsNotMisledByComparisonsAndLambdasAmongTemplateArguments) {
  EXPECT_EQ(short_kernel_name("void copy<(n > 2), float>(int)"), "copy");
  EXPECT_EQ(short_kernel_name("void copy<f(int&)::{lambda()#3}::operator()() const::{lambda(float)#7}>(int)"), "copy");
}

TEST(KernelName, LeavesWhatIsNoSignatureAlone) {
  for (const char* name : {"", "ampere_sgemm_128x64_nn", "my kernel 3", "(float*)", "triton_red_fused_0"})
    EXPECT_EQ(short_kernel_name(name), name);
}

TEST(KernelName, OfATornSignatureIsWhatIsThere) { EXPECT_EQ(short_kernel_name("void copy<float, (in"), "copy"); }

RC_GTEST_PROP(KernelName, IsNeverEmptyAndNeverLonger, ()) {
  const auto name = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(std::string{"ab:<>() ,_"})));
  const std::string shorter = short_kernel_name(name);
  RC_ASSERT(!shorter.empty());
  RC_ASSERT(shorter.size() <= name.size());
}

}  // namespace
}  // namespace corun
