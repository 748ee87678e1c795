// Names of kernels are input: none may take longer than its length and what is shown of it.
#include "traces/readable_name.h"

#include <gtest/gtest.h>

#include <string>

namespace corun {
namespace {

std::string substitution(int number) {
  if (number == 0) return "S_";
  constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const int digits = number - 1;
  return "S" + (digits >= 36 ? std::string(1, kDigits[digits / 36]) : "") + kDigits[digits % 36] + "_";
}

/// A class template of itself twice, `levels` times over, where `first` types have been named before.
std::string doubled(int levels, int first) {
  const std::string of = substitution(first + 1) + "I";
  std::string name = "1A1BI" + substitution(first) + substitution(first) + "E";
  for (int type = first + 2; type < first + 2 + levels; ++type)
    name += of + substitution(type) + substitution(type) + "E";
  return name;
}

TEST(ReadableName, IsThatOfTheSource) {
  EXPECT_EQ(readable_name("_Z4gemmPKfS0_Pfi"), "gemm(float const*, float const*, float*, int)");
  EXPECT_EQ(readable_name("_Z4fillIJifdEEvDpT_"), "void fill<int, float, double>(int, float, double)");
  EXPECT_EQ(readable_name("gemm"), "gemm");
  EXPECT_EQ(readable_name("i"), "i") << "no type";
  EXPECT_EQ(readable_name("_Z4gemm"), "gemm");
  EXPECT_EQ(readable_name("_Z4gem"), "_Z4gem");
  EXPECT_EQ(readable_name(""), "");
}

TEST(ReadableName, OfGigabytesIsCut) {
  const std::string mangled = "_Z1f" + doubled(25, 0);
  ASSERT_LT(mangled.size(), 300u);
  const std::string name = readable_name(mangled);
  EXPECT_EQ(name.size(), 4096u);
  EXPECT_EQ(name.substr(0, 48), "f(A, B<A, A>, B<B<A, A>, B<A, A> >, B<B<B<A, A>,");
  EXPECT_EQ(readable_name(std::string(5000, 'x')).size(), 4096u);
}

TEST(ReadableName, ThatIsSearchedForPacksWithoutEndStaysAsItIs) {
  const std::string few = "_Z1fDp1CI" + doubled(3, 1) + "E";
  EXPECT_EQ(readable_name(few).substr(0, 18), "f((C<A, B<A, A>, B");
  for (const std::string& many : {"_Z1fDp1CI" + doubled(40, 1) + "E", "_Z1fIXsP1CI" + doubled(40, 2) + "EEEEvv",
                                  "_Z1fIXsp1CI" + doubled(40, 2) + "E1vEEvv"})
    EXPECT_EQ(readable_name(many), many);
}

TEST(ReadableName, WithManyReparsedArgumentsStaysAsItIs) {
  const auto converted = [](int levels) {
    std::string name = "_ZN1AcvT_I";
    for (int level = 0; level < levels; ++level) name += "T_I";
    return name + "i" + std::string(levels, 'E') + "EEv";
  };
  EXPECT_EQ(readable_name(converted(60)), converted(60));
}

TEST(ReadableName, ThatHangsTheDemanglerOfGcc12IsRead) {
  const std::string mangled =
      "_ZN1AILi1EDpDpiE1fILi1EJN1AcvFS1_S1_EIJ1BIS1_Li1ELi1EEES4_ILi1EiS5_EEEES7_EEAfp__iMT_S8_Dp"
      "DpS8_DpDTT_EDTstPiESD_DTT_EDpSE_DTspsri1vEDp1BILi1EMT1_SF_E1AN1AcvT_ISM_JT_iEEE";
  EXPECT_EQ(readable_name(mangled).substr(0, 11), "int (A<1, (");
}

}  // namespace
}  // namespace corun
