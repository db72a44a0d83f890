"""Modules under the names that neuralforecast has them by."""
