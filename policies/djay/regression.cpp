#include "policies/djay/regression.h"

#include <Eigen/Core>

namespace corun {

namespace {

using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;
using Matrix = Eigen::Map<Eigen::MatrixXd>;
using ConstMatrix = Eigen::Map<const Eigen::MatrixXd>;

Vector vector_of(std::vector<double>& values) {
  return Vector(values.data(), static_cast<Eigen::Index>(values.size()));
}

ConstVector vector_of(const std::vector<double>& values) {
  return ConstVector(values.data(), static_cast<Eigen::Index>(values.size()));
}

Matrix square_of(std::vector<double>& values, std::size_t size) {
  return Matrix(values.data(), static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size));
}

ConstMatrix square_of(const std::vector<double>& values, std::size_t size) {
  return ConstMatrix(values.data(), static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size));
}

}  // namespace

void RidgeRegression::grow(std::size_t count) {
  const std::size_t before = size(), after = before + count;
  std::vector<double> covariance(after * after);
  Matrix grown = square_of(covariance, after);
  grown.diagonal().setConstant(prior_variance_);
  const auto known = static_cast<Eigen::Index>(before);
  grown.topLeftCorner(known, known) = square_of(covariance_, before);
  covariance_ = std::move(covariance);
  coefficients_.resize(after);
}

void RidgeRegression::forget(std::size_t feature) {
  Matrix covariance = square_of(covariance_, size());
  const auto at = static_cast<Eigen::Index>(feature);
  covariance.row(at).setZero();
  covariance.col(at).setZero();
  covariance(at, at) = prior_variance_;
  coefficients_[feature] = 0.0;
}

void RidgeRegression::fade(double keep) {
  if (keep >= 1.0) return;
  Matrix covariance = square_of(covariance_, size());
  covariance *= keep;
  covariance.diagonal().array() += (1.0 - keep) * prior_variance_;
}

void RidgeRegression::wander(std::size_t feature, double variance) {
  const auto at = static_cast<Eigen::Index>(feature);
  square_of(covariance_, size())(at, at) += variance;
}

void RidgeRegression::learn(const Features& x, double y) {
  Matrix covariance = square_of(covariance_, size());
  const Eigen::VectorXd spread = covariance * vector_of(x);
  const double surprise_variance = 1.0 + vector_of(x).dot(spread);
  vector_of(coefficients_) += spread * ((y - predict(x)) / surprise_variance);
  covariance -= spread * spread.transpose() / surprise_variance;
}

double RidgeRegression::predict(const Features& x) const { return vector_of(coefficients_).dot(vector_of(x)); }

double RidgeRegression::variance(const Features& x) const {
  return vector_of(x).dot(square_of(covariance_, size()) * vector_of(x));
}

}  // namespace corun
